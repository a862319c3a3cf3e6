//! Every route, once: the router and the `OpenAPI` document are made from the same declarations, so neither can have a
//! route that the other lacks. One file per kind of thing.

mod budget;
mod changes;
mod document;
mod explain;
mod health;
mod proof;
mod queries;
mod results;
mod sources;
mod stream;
mod tokens;
mod versions;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::gate;

/// Everything that is served.
pub(crate) fn router(app: App) -> Router {
    let open = OpenApiRouter::new()
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics));
    // Only under the prefix: no supervisor asks for it.
    let unlocked = OpenApiRouter::new().routes(routes!(proof::prove));
    let quick = OpenApiRouter::new()
        .routes(routes!(sources::list, sources::add))
        .routes(routes!(sources::add_many))
        .routes(routes!(sources::show, sources::edit, sources::remove))
        .routes(routes!(explain::explain))
        .routes(routes!(explain::forecast))
        .routes(routes!(explain::probe))
        .routes(routes!(versions::list))
        .routes(routes!(versions::show))
        .routes(routes!(versions::content))
        .routes(routes!(versions::difference))
        .routes(routes!(queries::list, queries::add))
        .routes(routes!(queries::test))
        .routes(routes!(queries::show, queries::edit, queries::remove))
        .routes(routes!(queries::explain))
        .routes(routes!(results::results))
        .routes(routes!(results::missed))
        .routes(routes!(budget::budget, budget::set_budget, budget::reset_budget))
        .routes(routes!(budget::decisions))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        .layer(from_fn_with_state(app.clone(), gate::time_limit));
    // These wait for changes, and see to it themselves that they end.
    let patient = OpenApiRouter::new().routes(routes!(changes::list)).routes(routes!(stream::follow));
    let (open_router, open_paths) = open.split_for_parts();
    let (unlocked_router, unlocked_paths) = unlocked.split_for_parts();
    let (closed_router, closed_paths) = quick.merge(patient).split_for_parts();
    let closed_router = closed_router
        .merge(document::router(closed_paths.merge_from(open_paths).merge_from(unlocked_paths)))
        .layer(from_fn_with_state(app.clone(), gate::token))
        .layer(from_fn(gate::room));
    Router::new()
        .nest("/api/v1", closed_router.merge(open_router.clone()).merge(unlocked_router))
        .merge(open_router)
        .fallback(gate::no_such_route)
        .method_not_allowed_fallback(gate::wrong_method)
        .layer(from_fn_with_state(app.clone(), gate::known_host))
        .layer(from_fn_with_state(app.clone(), gate::account))
        .with_state(app)
}
