//! Whole numbers among arguments.

use serde_json::Value;

/// The number, where it is one: JSON Schema takes `2.0` for an integer too. One that is too large is
/// the largest there is.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::whole;

    #[test]
    fn a_number_is_whole_however_it_is_written() {
        for (value, expected) in [
            (json!(4), Some(4)),
            (json!(4.0), Some(4)),
            (json!(1e300), Some(u64::MAX)),
            (json!("4"), None),
            (json!(null), None),
        ] {
            assert_eq!(whole(&value), expected, "{value}");
        }
    }
}
