//! `/api/v1/openapi.json`: the routes as their own declarations describe them, and what they have in common.

use axum::Router;
use axum::http::header;
use axum::routing::get;
use utoipa::openapi::path::{Operation, Parameter, PathItem};
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, Content, InfoBuilder, OpenApi, Ref, RefOr, ResponseBuilder, Server as ServerUrl,
};
use utoipa::{PartialSchema, ToSchema};

use crate::app::App;
use crate::failure::{ErrorBody, ErrorResponse, TextError};

/// The route that gives the document.
pub(super) fn router(routes: OpenApi) -> Router<App> {
    let text = described(routes).to_json().expect("a document of plain values can be written as JSON");
    let text = bytes::Bytes::from(text);
    let answer = move || async move { ([(header::CONTENT_TYPE, "application/json")], text) };
    Router::new().route("/openapi.json", get(answer))
}

fn described(mut routes: OpenApi) -> OpenApi {
    routes.info = InfoBuilder::new()
        .title("Dunlin")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("Sources that can only be pulled, as a stream of changes."))
        .build();
    routes.servers = Some(vec![ServerUrl::new("/api/v1")]);
    routes.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
    let mut shared = OpenApi::default();
    shared.components = Some(
        ComponentsBuilder::new()
            .schema(ErrorResponse::name(), ErrorResponse::schema())
            .schema(ErrorBody::name(), ErrorBody::schema())
            .schema(TextError::name(), TextError::schema())
            .security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
            .build(),
    );
    for item in routes.paths.paths.values_mut() {
        operations(item).for_each(|operation| {
            can_fail(operation);
            for parameter in operation.parameters.iter_mut().flatten() {
                if let RefOr::T(parameter) = parameter {
                    is_there_or_not(parameter);
                }
            }
        });
    }
    routes.merge_from(shared)
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
}

/// A parameter can be left out, but what is sent is text: there is no null.
fn is_there_or_not(parameter: &mut Parameter) {
    if let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema
        && let SchemaType::Array(types) = &object.schema_type
        && let Some(given) = types.iter().find(|given| **given != Type::Null).cloned()
    {
        object.schema_type = SchemaType::Type(given);
    }
}

/// Every error has the same form, so that no route has to say it.
fn can_fail(operation: &mut Operation) {
    let problem = Content::new(Some(Ref::from_schema_name(ErrorResponse::name())));
    let response = ResponseBuilder::new()
        .description("What went wrong, and what to try")
        .content("application/json", problem)
        .build();
    operation.responses.responses.insert("default".to_owned(), response.into());
}
