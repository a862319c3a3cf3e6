//! A service that may open few files: says so, takes less on, and goes on answering when they run out.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use crate::run::{Desk, dunlin};
use crate::running::Running;

/// `dunlin serve` in a shell that sets limits first.
fn limited(desk: &Desk, limits: &str, args: &str) -> Running {
    let inner = dunlin(&desk.path(""), args);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits}; exec \"$@\""), "sh"]);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(desk.path(""));
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Running::spawn(command)
}

fn address(running: &mut Running) -> SocketAddr {
    let line = running.line_with("listening on");
    line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap()
}

fn health(address: SocketAddr) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    socket.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    answer
}

#[test]
fn a_service_with_few_descriptors_says_so_and_goes_on_answering() {
    let desk = Desk::new();
    let mut running = limited(&desk, "ulimit -n 64", "serve --data data --listen 127.0.0.1:0");
    let warning = running.line_with("warning: only 64 files may be open");
    assert!(warning.contains("ulimit -n"), "{warning}");
    let address = address(&mut running);
    let held: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    for _ in 0..5 {
        let answer = health(address);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
    }
    drop(held);
    let _readers: Vec<Running> = (0..3).map(|_| Running::start(&desk, "tail --data data")).collect();
    for _ in 0..3 {
        let done = desk.run("sources --data data");
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
}

#[test]
fn the_limit_is_raised_as_far_as_it_goes() {
    let desk = Desk::new();
    let mut running = limited(&desk, "ulimit -Sn 64", "serve --data data --listen 127.0.0.1:0");
    running.line_with("listening on");
    assert!(!running.messages().contains("files may be open"), "{}", running.messages());
    let doctor = desk.run("doctor --data data");
    assert!(doctor.stdout.contains("open files"), "{}", doctor.stdout);
}

/// The warning about other machines comes once, in every log format.
#[test]
fn an_address_that_others_reach_is_warned_about_once() {
    for format in ["text", "json"] {
        let desk = Desk::new();
        let args = format!("serve --data data --log-format {format} --listen");
        let mut running = Running::start(&desk, &format!("{args} 0.0.0.0:0"));
        running.line_with("tokens are sent in the clear");
        running.line_with("listening on");
        running.signal("INT");
        let (code, messages) = running.end();
        assert_eq!(code, Some(0));
        assert_eq!(messages.matches("in the clear").count(), 1, "{messages}");
        let mut running = Running::start(&desk, &format!("{args} 127.0.0.1:0"));
        running.line_with("listening on");
        running.signal("INT");
        assert!(!running.end().1.contains("in the clear"));
    }
}
