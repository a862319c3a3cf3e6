//! The token of a request, for what outlives the request: a stream or a wait ends when its own token is revoked, and not
//! when another one is.

use axum::http::StatusCode;
use tokio::sync::watch;

use crate::app::App;
use crate::failure::Failure;
use crate::tokens;

/// The token that a request came with, and a channel for revocations since.
#[derive(Clone)]
pub(crate) struct Holder {
    pub(super) token: String,
    pub(super) revoked: watch::Receiver<()>,
}

impl Holder {
    /// Refuses a token that is not valid.
    pub(crate) async fn check(&mut self, app: &App) -> Result<(), Failure> {
        self.revoked.borrow_and_update();
        let token = self.token.clone();
        if app.checking(move |store| tokens::check(store, &token)).await?.is_some() {
            return Ok(());
        }
        let hint = "check that it is complete and not revoked; dunlin token create NAME makes another";
        Err(Failure::new(StatusCode::UNAUTHORIZED, "bad_token", "the token is not valid", hint))
    }

    /// Whether the token has been revoked since it was last checked. A store that cannot be read says nothing about it, and
    /// is asked again the next time.
    pub(crate) async fn is_revoked(&mut self, app: &App) -> bool {
        if !self.has_heard() {
            return false;
        }
        match self.check(app).await {
            Ok(()) => false,
            Err(failure) if failure.status() == StatusCode::UNAUTHORIZED => true,
            Err(_) => {
                self.revoked.mark_changed();
                false
            }
        }
    }

    /// Whether any token has been revoked since this one was last checked.
    pub(crate) fn has_heard(&self) -> bool {
        self.revoked.has_changed().unwrap_or(false)
    }

    /// Waits for a revocation, of this token or another.
    pub(crate) async fn hear(&mut self) {
        // The other end is kept by the server for as long as it runs.
        if self.revoked.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.revoked.mark_changed();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dunlin_core::Time;
    use dunlin_engine::{Engine, Settings};
    use dunlin_store::{SqliteStore, Store};

    use super::*;
    use crate::Options;

    #[tokio::test]
    async fn a_revocation_counts_even_if_the_store_could_not_be_read_at_first() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
        let token = tokens::create(&*store, "phone", Time::from_seconds(1_700_000_000)).unwrap();
        let engine = Engine::start(store.clone(), Settings::default()).await.unwrap();
        let (_stop, stopping) = watch::channel(false);
        let app = App::new(engine.handle(), Options::default(), stopping);
        let mut holder = Holder { token, revoked: app.revoked.subscribe() };
        assert!(!holder.is_revoked(&app).await);
        store.set_setting("token:phone", Some("not a record of a token".to_owned())).unwrap();
        app.revoked.send_replace(());
        assert!(!holder.is_revoked(&app).await, "nothing is known of it yet");
        store.set_setting("token:phone", None).unwrap();
        assert!(holder.is_revoked(&app).await, "the store is read again without another revocation");
        engine.stop().await.unwrap();
    }
}
