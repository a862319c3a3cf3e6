//! As much of JSON Schema as the document uses, to hold answers against. Stricter in one thing: an object may have no
//! field that is not described.

use serde_json::Value;

/// What is wrong with a value, and where; empty when it is as described.
pub(crate) fn problems(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Check { document, found: &mut found }.value(schema, value, "$");
    found
}

struct Check<'a> {
    document: &'a Value,
    found: &'a mut Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, at: &str) {
        if let Some(target) = schema["$ref"].as_str() {
            let described = self.document.pointer(target.trim_start_matches('#'));
            return self.value(described.unwrap_or_else(|| panic!("{target} leads nowhere")), value, at);
        }
        for (name, wanted) in [("oneOf", 1..=1), ("anyOf", 1..=usize::MAX)] {
            if let Some(choices) = schema[name].as_array() {
                let fits = |choice: &&Value| problems(self.document, choice, value).is_empty();
                let n_fitting = choices.iter().filter(fits).count();
                if !wanted.contains(&n_fitting) {
                    self.found.push(format!("{at}: fits {n_fitting} of {name}: {value}"));
                }
                return;
            }
        }
        if !has_type(&schema["type"], value) {
            self.found.push(format!("{at}: {value} is not {}", schema["type"]));
            return;
        }
        if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
            self.found.push(format!("{at}: {value} is none of {}", schema["enum"]));
        }
        match value {
            Value::Object(fields) => {
                for name in schema["required"].as_array().into_iter().flatten() {
                    if !fields.contains_key(name.as_str().unwrap()) {
                        self.found.push(format!("{at}: lacks {name}"));
                    }
                }
                for (name, value) in fields {
                    let other = || schema.get("additionalProperties").filter(|other| other.is_object());
                    match schema["properties"].get(name).or_else(other) {
                        Some(described) => self.value(described, value, &format!("{at}.{name}")),
                        None => self.found.push(format!("{at}: `{name}` is not described")),
                    }
                }
            }
            Value::Array(values) => {
                for (i, value) in values.iter().enumerate() {
                    let described = schema["prefixItems"].get(i).unwrap_or(&schema["items"]);
                    self.value(described, value, &format!("{at}[{i}]"));
                }
            }
            Value::Number(number) => {
                let number = number.as_f64().unwrap();
                let is_low = schema["minimum"].as_f64().is_some_and(|least| number < least);
                let is_high = schema["maximum"].as_f64().is_some_and(|most| number > most);
                if is_low || is_high {
                    self.found.push(format!("{at}: {number} is out of bounds"));
                }
            }
            Value::String(text) => {
                let is_time = schema["format"] == "date-time";
                if is_time && !(text.ends_with('Z') && text.contains('T')) {
                    self.found.push(format!("{at}: `{text}` is no instant"));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

fn has_type(described: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    };
    match described {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

#[test]
fn a_wrong_schema_is_found() {
    let document = serde_json::json!({ "components": { "schemas": { "Name": { "type": "string" } } } });
    let schema = serde_json::json!({
        "type": "object", "required": ["a"],
        "properties": {
            "a": { "$ref": "#/components/schemas/Name" }, "b": { "type": ["integer", "null"], "minimum": 1 },
            "c": { "type": "array", "items": { "oneOf": [{ "type": "null" }, { "type": "boolean" }] } },
            "d": { "type": "string", "format": "date-time" }, "e": { "type": "string", "enum": ["x"] },
        },
    });
    let n_wrong = |value: Value| problems(&document, &schema, &value).len();
    let right = serde_json::json!({
        "a": "x", "b": null, "c": [null, true], "d": "2026-11-15T12:00:00Z", "e": "x"
    });
    assert_eq!(n_wrong(right), 0);
    assert_eq!(n_wrong(serde_json::json!({ "a": 1 })), 1);
    assert_eq!(n_wrong(serde_json::json!({ "b": 0, "z": 1 })), 3);
    assert_eq!(n_wrong(serde_json::json!({ "a": "", "b": 1.5, "c": [1, "x"], "d": "now", "e": "y" })), 5);
}
