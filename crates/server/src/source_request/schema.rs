//! The schema of a source that is sent to the API, beyond the types of its fields: which are required, and which values
//! are valid. Only described here; the engine checks it. A bulk call is described by the types alone, since it takes any
//! values and reports the result of each source by itself.

use serde::Deserialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::SourceRequest;

/// A number that is 0 or lies within bounds.
pub(crate) fn zero_or(least: f64, most: f64) -> RefOr<Schema> {
    let number = || ObjectBuilder::new().schema_type(Type::Number);
    AnyOfBuilder::new()
        .item(number().enum_values(Some([0])))
        .item(number().minimum(Some(least)).maximum(Some(most)))
        .into()
}

/// What a source's changes are worth against those of others: 0, or from 0.000001 to 1000000.
struct Weight;

impl ToSchema for Weight {}

impl PartialSchema for Weight {
    fn schema() -> RefOr<Schema> {
        zero_or(1e-6, 1e6)
    }
}

/// A label to find sources by.
#[derive(Deserialize, ToSchema)]
#[schema(min_length = 1, max_length = 100)]
struct Tag(#[expect(dead_code, reason = "only described")] String);

/// The valid values.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
struct SourceRules {
    #[schema(max_length = 8192, pattern = "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]")]
    url: Option<String>,
    #[schema(max_length = 200, pattern = "^(\\S|\\S[^\\x00-\\x1f\\x7f-\\x9f]*\\S)$")]
    name: Option<String>,
    #[schema(pattern = "^(page|feed|json|text|auto)$")]
    kind: Option<String>,
    #[schema(minimum = 1, maximum = 100_000_000)]
    shortest_gap: Option<i64>,
    #[schema(minimum = 1, maximum = 100_000_000)]
    longest_gap: Option<i64>,
    #[schema(value_type = Option<Weight>)]
    weight: Option<f64>,
    #[schema(
        pattern = "^(uniform|(exp|polyexp:([0-9]|[1-9][0-9]|100)):(0(\\.[0-9]{1,15})?|1)|(sliding|chordal):[0-9]{1,9}|poly:[0-9]{1,2}(\\.[0-9]{1,15})?)$"
    )]
    urgency: Option<String>,
    #[schema(pattern = "^(append|overwrite|window:[1-9][0-9]{0,8}|changes:([1-9][0-9]{0,2}|1000))$")]
    life: Option<String>,
    #[schema(value_type = Option<Vec<Tag>>, max_items = 50)]
    tags: Option<Vec<Tag>>,
}

/// A source that is added needs an address.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
struct NeedsUrl {
    url: String,
}

/// A source to be watched.
pub(crate) struct NewSourceSchema;

impl ToSchema for NewSourceSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "NewSource".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        SourceEditSchema::schemas(schemas);
        schemas.push((SourceEditSchema::name().into(), SourceEditSchema::schema()));
    }
}

impl PartialSchema for NewSourceSchema {
    fn schema() -> RefOr<Schema> {
        all_of([SourceEditSchema::schema(), NeedsUrl::schema()])
    }
}

/// What to change about a source.
pub(crate) struct SourceEditSchema;

impl ToSchema for SourceEditSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "SourceEdit".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        SourceRequest::schemas(schemas);
        schemas.push((SourceRequest::name().into(), SourceRequest::schema()));
        schemas.push((Tag::name().into(), Tag::schema()));
        schemas.push((Weight::name().into(), Weight::schema()));
    }
}

impl PartialSchema for SourceEditSchema {
    fn schema() -> RefOr<Schema> {
        all_of([SourceRequest::schema(), SourceRules::schema()])
    }
}

fn all_of(parts: impl IntoIterator<Item = RefOr<Schema>>) -> RefOr<Schema> {
    let all = utoipa::openapi::schema::AllOfBuilder::new();
    parts.into_iter().fold(all, utoipa::openapi::schema::AllOfBuilder::item).into()
}
