//! The schema of a budget to be set. Nothing is checked here.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::NewBudget;
use crate::source_request::schema::zero_or;
use crate::unit::Unit;

/// The fields, and the fewest probes in each unit that are not none.
const FIELDS: [(&str, f64, Unit); 4] = [
    ("per_second", 1.157_407_407_407_407_4e-8, Unit::Second),
    ("per_minute", 6.944_444_444_444_445e-7, Unit::Minute),
    ("per_hour", 4.166_666_666_666_666_5e-5, Unit::Hour),
    ("per_day", 0.001, Unit::Day),
];

impl ToSchema for NewBudget {}

impl PartialSchema for NewBudget {
    /// One of four objects; the fields of the other units may be there and null.
    fn schema() -> RefOr<Schema> {
        let one = |&(field, fewest, unit): &(&str, f64, Unit)| {
            let mut object = ObjectBuilder::new()
                .additional_properties(Some(AdditionalProperties::FreeForm(false)))
                .property(field, zero_or(fewest, 1e6 * unit.seconds()))
                .required(field);
            for (other, ..) in FIELDS.iter().filter(|(other, ..)| *other != field) {
                object = object.property(*other, ObjectBuilder::new().schema_type(Type::Null));
            }
            object
        };
        let all = OneOfBuilder::new().description(Some("A budget to be set, in one of the units."));
        FIELDS.iter().fold(all, |all, field| all.item(one(field))).into()
    }
}
