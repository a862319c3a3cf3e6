//! The routes as one connection sees them: what is under way on it is known to the book of places until its answer has
//! been handed over.

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

use super::places::{Kind, Seat, UnderWay};
use crate::gate::Reserved;

/// Answers what is asked on one connection.
pub(super) struct Asked {
    router: TowerToHyperService<Router>,
    seat: Arc<Seat>,
}

impl Asked {
    pub(super) fn new(router: Router, seat: Arc<Seat>) -> Self {
        Self { router: TowerToHyperService::new(router), seat }
    }
}

impl Service<Request<Incoming>> for Asked {
    type Response = Response<Answering>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let under_way = self.seat.begin();
        let is_reserved = self.seat.kind() == Kind::Reserve;
        if is_reserved {
            request.extensions_mut().insert(Reserved);
        }
        let answered = self.router.call(request);
        Box::pin(async move {
            let mut response = answered.await?;
            if is_reserved {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(response.map(|body| Answering { body, _under_way: under_way }))
        })
    }
}

/// The body of an answer; while it is there, a request is under way.
pub(super) struct Answering {
    body: Body,
    _under_way: UnderWay,
}

impl HttpBody for Answering {
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
