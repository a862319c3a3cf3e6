//! When to stop: at the first Ctrl-C, termination or closed terminal in an orderly way, at the second at once.

use std::path::PathBuf;

use crate::failure::Failure;

/// The exit code of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Hears signals from the moment it is made.
pub(crate) struct Stop {
    asked: tokio::sync::oneshot::Receiver<()>,
}

impl Stop {
    /// `temporary` is a directory that not even an end at once leaves behind.
    pub(crate) fn listen(temporary: Option<PathBuf>) -> Result<Self, Failure> {
        let mut signals =
            Signals::new().map_err(|error| Failure::Environment(format!("no signals: {error}")))?;
        let (ask, asked) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            signals.next().await;
            // Whoever waits may be gone already, and then there is nothing left to ask.
            let _ = ask.send(());
            signals.next().await;
            if let Some(directory) = temporary {
                // Nothing can be done about what stays, and nobody is left to be told.
                let _ = std::fs::remove_dir_all(directory);
            }
            std::process::exit(INTERRUPTED);
        });
        Ok(Self { asked })
    }

    /// Waits until someone wants the program to end.
    pub(crate) async fn asked(self) {
        let _ = self.asked.await;
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
