//! Integers among the arguments of a call.

use gate::RunningCall;
use serde_json::Value;

/// An argument that the contract declares as an integer. JSON Schema takes `2.0` for one too; a number that
/// is too large becomes the largest there is.
pub(crate) fn argument(call: &RunningCall, name: &str) -> Option<u64> {
    call.input.get(name).and_then(integer)
}

fn integer(value: &Value) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::integer;

    #[test]
    fn an_integer_is_read_however_it_is_written() {
        for (value, expected) in [
            (json!(4), Some(4)),
            (json!(4.0), Some(4)),
            (json!(1e300), Some(u64::MAX)),
            (json!("4"), None),
            (json!(null), None),
        ] {
            assert_eq!(integer(&value), expected, "{value}");
        }
    }
}
