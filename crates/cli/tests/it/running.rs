//! A `dunlin` that keeps running: its output line by line, with a deadline, and signals.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::run::{Desk, dunlin};

/// Nothing that is waited for takes this long, unless it never comes.
const DEADLINE: Duration = Duration::from_mins(2);

/// A running program; killed when dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Running {
    /// Starts `dunlin` with arguments separated by blanks.
    pub(crate) fn start(desk: &Desk, args: &str) -> Self {
        Self::spawn(dunlin(&desk.path(""), args))
    }

    /// Starts a command.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
            });
        }
        Self { child, lines, seen: Vec::new() }
    }

    /// The next line of either output that contains `text`; panics when none comes in time.
    pub(crate) fn line_with(&mut self, text: &str) -> String {
        let end = Instant::now() + DEADLINE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no line with `{text}`; there were:\n{}", self.seen.join("\n"));
            };
            self.seen.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Takes in a line if one comes within `time`; `None` when the program has ended.
    pub(crate) fn wait(&mut self, time: Duration) -> Option<()> {
        match self.lines.recv_timeout(time) {
            Ok(line) => self.seen.push(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        Some(())
    }

    /// Everything it has written that was taken in.
    pub(crate) fn messages(&self) -> String {
        self.seen.join("\n")
    }

    /// Sends a signal by name, as a shell does it: not every system has a program for that.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("sh").args(["-c", "kill -\"$0\" \"$1\"", name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end, but no longer than so; `None` when it has not come, and then it is killed.
    pub(crate) fn end_within(mut self, time: Duration) -> Option<(Option<i32>, String)> {
        let end = Instant::now() + time;
        // Its output ends when it does.
        while self.wait(end.saturating_duration_since(Instant::now())).is_some() {
            if Instant::now() >= end {
                return None;
            }
        }
        Some(self.end())
    }

    /// Waits for the end; its exit code, `None` if a signal ended it, and everything it wrote.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        let rest: Vec<String> = self.lines.iter().collect();
        self.seen.extend(rest);
        (status.code(), self.seen.join("\n"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
