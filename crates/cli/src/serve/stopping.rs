//! When to stop: at the first Ctrl-C, termination or closed terminal in an orderly way, at the second at once. An orderly way
//! that takes too long ends all the same.
//!
//! Invariant: this has a thread and a runtime of its own, so that it works when the service's threads are busy.

use std::path::PathBuf;
use std::time::Duration;

use crate::failure::Failure;

/// How long requests to the API may take once the engine has stopped.
pub(crate) const FOR_REQUESTS: Duration = Duration::from_secs(5);

/// How long after `stop_within` the service has ended in any case: time for the last writes and for requests.
const MARGIN: Duration = Duration::from_secs(10);

/// The exit code of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// The exit code of a service that did not come to its end.
const CUT_OFF: i32 = 3;

/// Hears signals from the moment it is made.
pub(crate) struct Stop {
    asked: tokio::sync::oneshot::Receiver<()>,
}

impl Stop {
    /// `stop_within` is how long the engine may take to stop; `temporary` a directory that not even an end at once leaves
    /// behind.
    pub(crate) fn listen(stop_within: Duration, temporary: Option<PathBuf>) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::Environment(format!("no signals: {error}"));
        let (ask, asked) = tokio::sync::oneshot::channel();
        let (begun, has_begun) = std::sync::mpsc::sync_channel(1);
        let limit = stop_within.saturating_add(MARGIN);
        let hearing = move || {
            let Some(code) = hear(&begun, ask, limit) else { return };
            if let Some(directory) = temporary {
                // Nothing can be done about files that stay.
                let _ = std::fs::remove_dir_all(directory);
            }
            std::process::exit(code)
        };
        std::thread::Builder::new().name("dunlin-signals".to_owned()).spawn(hearing).map_err(failed)?;
        has_begun.recv().unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into())).map_err(failed)?;
        Ok(Self { asked })
    }

    /// Waits until someone wants the program to end.
    pub(crate) async fn asked(self) {
        let _ = self.asked.await;
    }
}

/// Says whether signals can be heard, and asks for an end at the first one. Returns when the program has to end at once, with
/// its exit code.
fn hear(
    begun: &std::sync::mpsc::SyncSender<std::io::Result<()>>,
    ask: tokio::sync::oneshot::Sender<()>,
    limit: Duration,
) -> Option<i32> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = begun.send(Err(error));
            return None;
        }
    };
    runtime.block_on(async {
        let (signals, heard) = match Signals::new() {
            Ok(signals) => (Some(signals), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let _ = begun.send(heard);
        let mut signals = signals?;
        signals.next().await;
        // The receiver may be gone already, and then there is nothing left to stop.
        let _ = ask.send(());
        if tokio::time::timeout(limit, signals.next()).await.is_ok() {
            return Some(INTERRUPTED);
        }
        let lost = "what was not stored by then is lost (start the service again)";
        crate::note(&format!("error: no orderly end within {limit:?}; {lost}"));
        Some(CUT_OFF)
    })
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
