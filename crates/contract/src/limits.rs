//! The numbers that bound one call, and the ways to change them.
//!
//! Three layers: the server's defaults, the contract's own, the request's. A
//! request may lower any of them and raise them up to the server's ceilings; a
//! number outside that range is refused, never bent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Violation;

macro_rules! limits {
    ($limits:ident, $overrides:ident, $($(#[$doc:meta])* $field:ident: $default:literal .. $ceiling:literal, from $least:literal;)*) => {
        /// Every limit with a value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $limits {
            $($(#[$doc])* #[schemars(range(min = $least))] pub $field: u64,)*
        }

        impl Default for $limits {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $limits {
            /// The most that a caller may ask for unless the operator says otherwise.
            pub const fn default_ceilings() -> Self {
                Self { $($field: $ceiling,)* }
            }

            /// These limits with every given one in its place.
            #[must_use]
            pub fn with(&self, overrides: &$overrides) -> Self {
                Self { $($field: overrides.$field.unwrap_or(self.$field),)* }
            }

            /// Name, value and least value of each, in order.
            pub fn entries(&self) -> Vec<(&'static str, u64, u64)> {
                vec![$((stringify!($field), self.$field, $least),)*]
            }
        }

        /// Any subset of the limits.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $overrides {
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schemars(range(min = $least))]
                pub $field: Option<u64>,
            )*
        }

        impl $overrides {
            /// True if nothing is overridden.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// Reads a request's limits; what is not a number within the ceilings is refused.
            pub fn from_request(value: &Value, ceilings: &$limits) -> Result<Self, Vec<Violation>> {
                let mut overrides = Self::default();
                let mut violations = Vec::new();
                let Value::Object(given) = value else {
                    return Err(vec![Violation::new("", "type", "must be an object of limits")]);
                };
                for (name, value) in given {
                    let (field, least, ceiling) = match name.as_str() {
                        $(stringify!($field) => (&mut overrides.$field, $least, ceilings.$field),)*
                        _ => {
                            let names = [$(stringify!($field)),*];
                            violations.push(Violation::unknown_key("", name, names.into_iter()));
                            continue;
                        }
                    };
                    match whole_number(value) {
                        Some(number) if (least..=ceiling).contains(&number) => *field = Some(number),
                        _ => violations.push(Violation::new(
                            &format!("/{name}"),
                            "range",
                            &format!("must be a whole number from {least} to {ceiling}"),
                        )),
                    }
                }
                if violations.is_empty() { Ok(overrides) } else { Err(violations) }
            }
        }
    };
}

limits! { Limits, LimitOverrides,
    /// The timeout of the call, in milliseconds.
    timeout_ms: 30_000 .. 600_000, from 1;
    /// The part of the tool's stdout that is kept, in bytes.
    max_stdout_bytes: 1_000_000 .. 10_000_000, from 1;
    /// The part of the tool's stderr that is kept, in bytes.
    max_stderr_bytes: 1_000_000 .. 10_000_000, from 1;
    /// The largest artifact that is kept, in bytes.
    max_artifact_bytes: 25_000_000 .. 1_000_000_000, from 1;
    /// The largest number of artifacts that are kept.
    max_artifacts: 64 .. 1_024, from 1;
    /// The length of the summary, in characters.
    max_summary_characters: 280 .. 4_000, from 16;
    /// The largest result, in bytes of JSON.
    max_output_bytes: 5_242_880 .. 67_108_864, from 1;
}

limits! { ProcessLimits, ProcessLimitOverrides,
    /// Address space of each process that a command starts, in bytes.
    max_memory_bytes: 4_294_967_296 .. 1_099_511_627_776, from 67_108_864;
    /// Processor time of each process that a command starts, in seconds.
    max_cpu_seconds: 300 .. 86_400, from 1;
    /// The largest file that a command may write, in bytes.
    max_file_bytes: 268_435_456 .. 1_099_511_627_776, from 1;
    /// Files that each process may have open at once.
    max_open_files: 256 .. 65_536, from 16;
}

/// A number without a fractional part that fits, as JSON Schema understands `integer`: `2`
/// and `2.0`, not `2.5`, `-1` or `1e99`.
pub fn whole_number(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    // Up to 2^53 every whole f64 is exact.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    (number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number))
        .then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(value: &Value) -> String {
        let ceilings = Limits::default_ceilings();
        let violations = LimitOverrides::from_request(value, &ceilings).unwrap_err();
        violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn refuses_numbers_outside_the_range() {
        for number in [json!(0), json!(-1), json!(1e99), json!(2.5), json!("5"), json!(600_001)] {
            assert_eq!(
                refused(&json!({ "timeout_ms": number })),
                "`/timeout_ms` must be a whole number from 1 to 600000"
            );
        }
        assert_eq!(
            refused(&json!({ "max_summary_characters": 15 })),
            "`/max_summary_characters` must be a whole number from 16 to 4000"
        );
        assert_eq!(
            refused(&json!({ "timeout": 5 })),
            "`/timeout` is not a known key; did you mean `timeout_ms`?"
        );
        assert_eq!(refused(&json!([])), "the value must be an object of limits");
    }

    #[test]
    fn takes_any_subset() {
        let ceilings = Limits::default_ceilings();
        let given = json!({ "timeout_ms": 2000, "max_artifacts": 4.0 });
        let overrides = LimitOverrides::from_request(&given, &ceilings).unwrap();
        let limits = Limits::default().with(&overrides);
        assert_eq!((limits.timeout_ms, limits.max_artifacts), (2000, 4));
        assert_eq!(limits.max_stdout_bytes, 1_000_000);
    }
}
