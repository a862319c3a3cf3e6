//! The routes as one connection sees them: its slot counts as busy from a request until the response has been handed
//! over.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use super::slots::{BusyGuard, Kind, SlotGuard};
use crate::gate::Reserved;

/// Answers the requests of one connection.
pub(super) struct ConnectionService {
    router: TowerToHyperService<Router>,
    guard: Arc<SlotGuard>,
}

impl ConnectionService {
    pub(super) fn new(router: Router, guard: Arc<SlotGuard>) -> Self {
        Self { router: TowerToHyperService::new(router), guard }
    }
}

impl Service<Request<Incoming>> for ConnectionService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let busy = self.guard.begin();
        let is_reserved = self.guard.kind() == Kind::Reserve;
        if is_reserved {
            request.extensions_mut().insert(Reserved);
        }
        let answered = self.router.call(request);
        Box::pin(async move {
            let mut response = answered.await?;
            if is_reserved {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(response.map(|body| ResponseBody { body, _busy: busy }))
        })
    }
}

/// The body of a response; while it exists, the connection is busy.
pub(super) struct ResponseBody {
    body: Body,
    _busy: BusyGuard,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
