//! The end of a service that cannot end in an orderly way: at the second signal at once, and some time after the first one in
//! any case.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use crate::run::{Desk, dunlin};
use crate::running::Running;

/// What stopping may take beyond `stop_within`, and as much again for a machine that is busy.
const MARGIN: Duration = Duration::from_secs(10);

fn data_with(settings: &str) -> Desk {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    std::fs::write(desk.path("data").join("dunlin.toml"), settings).unwrap();
    desk
}

#[test]
fn a_second_signal_ends_at_once() {
    let desk = data_with(
        "robots = false\nstop_within = \"1h\"\nchronon = \"50ms\"\nbudget = \"20/s\"\n\
         [guard]\nnetworks = [\"127.0.0.1/32\"]\n[limits]\nfirst_byte = \"1h\"\ntotal = \"1h\"\n",
    );
    // Accepts, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let done = dunlin(&desk.path(""), "add --data data").arg(&url).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    running.line_with("listening on");
    let _asked = silent.accept().unwrap();
    running.signal("TERM");
    running.line_with("active probes; Ctrl-C again abandons them");
    running.signal("TERM");
    let (code, messages) = running.end_within(2 * MARGIN).expect("an end");
    assert_eq!(code, Some(130), "{messages}");
}

/// Here it hangs before it serves anything: the file with its token is one that is never written.
#[cfg(unix)]
#[test]
fn a_service_that_hangs_ends_all_the_same() {
    let desk = data_with("stop_within = \"0s\"\n");
    let token = desk.path("data").join("cli-token");
    assert!(Command::new("mkfifo").arg(&token).status().unwrap().success());
    let running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    // Opens when the other end does; then the service reads, and nothing comes.
    let _held = std::fs::OpenOptions::new().write(true).open(&token).unwrap();
    running.signal("TERM");
    let (code, messages) = running.end_within(2 * MARGIN).expect("an end");
    assert_eq!(code, Some(3), "{messages}");
    assert!(messages.contains("no orderly end within 10s"), "{messages}");
}
