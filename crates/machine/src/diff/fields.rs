//! The parts of an answer, and the tolerance of each.

use serde_json::Value;

use super::BaselineError;

/// The tolerance of a processor's frequency, as a share of the larger of both. Where it is
/// the present one, it follows the load and the heat.
const FREQUENCY_TOLERANCE: f64 = 0.2;

/// The tolerance of used and free memory, as a share of all of it.
const RAM_USED_TOLERANCE: f64 = 0.5;

/// The tolerance of the used space of a disk, as a share of its size.
const DISK_USED_TOLERANCE: f64 = 0.2;

/// The tolerance of a size, as a share of the larger of both: kernels and drivers set aside a
/// little more or less from one version to the next.
const SIZE_TOLERANCE: f64 = 0.01;

/// The numbers of packages, and of elements of another list, that a baseline may have.
pub(super) const MAX_PACKAGES: usize = 200_000;
pub(super) const MAX_ELEMENTS: usize = 10_000;

#[derive(Debug, Clone, Copy)]
pub(super) enum ValueType {
    Text,
    TextOrNull,
    Number,
    NumberOrNull,
    Flag,
}

/// The difference up to which two values are the same.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tolerance {
    /// Any.
    Exact,
    /// More than this share of the larger of both.
    Share(f64),
    /// The same, and a zero means that the value is not known.
    ShareWhereKnown(f64),
    /// More than this share of another field.
    ShareOf(&'static str, f64),
}

/// A value with a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub name: &'static str,
    pub holds: ValueType,
    pub tolerance: Tolerance,
}

/// A part of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum BaselinePart {
    /// A value.
    One(Field),
    Object(&'static str, &'static [Field]),
    /// An object that the seed does not have.
    Extra(&'static str, &'static [Field]),
    /// A list of objects, each known by its first field.
    List(&'static str, &'static [Field]),
    /// The list of packages.
    Packages(&'static str),
    /// A word about the answer itself, which is not compared.
    About(&'static str, &'static [&'static str]),
}

const fn field(name: &'static str, holds: ValueType, tolerance: Tolerance) -> Field {
    Field { name, holds, tolerance }
}

const fn text(name: &'static str) -> Field {
    field(name, ValueType::Text, Tolerance::Exact)
}

/// The parts of an answer about the hardware.
pub(super) const HARDWARE: &[BaselinePart] = &[
    BaselinePart::Object(
        "cpu",
        &[
            field("cores", ValueType::Number, Tolerance::Exact),
            field("threads", ValueType::Number, Tolerance::Exact),
            field(
                "frequency_mhz",
                ValueType::Number,
                Tolerance::ShareWhereKnown(FREQUENCY_TOLERANCE),
            ),
        ],
    ),
    BaselinePart::List(
        "gpus",
        &[
            text("name"),
            field("vram_gb", ValueType::NumberOrNull, Tolerance::Share(SIZE_TOLERANCE)),
            field("driver_version", ValueType::TextOrNull, Tolerance::Exact),
        ],
    ),
    BaselinePart::Object(
        "ram_gb",
        &[
            field("total", ValueType::Number, Tolerance::Share(SIZE_TOLERANCE)),
            field("used", ValueType::Number, Tolerance::ShareOf("total", RAM_USED_TOLERANCE)),
            field("free", ValueType::Number, Tolerance::ShareOf("total", RAM_USED_TOLERANCE)),
        ],
    ),
    BaselinePart::List(
        "disks",
        &[
            text("mount"),
            field("size_gb", ValueType::Number, Tolerance::Share(SIZE_TOLERANCE)),
            field("used_gb", ValueType::Number, Tolerance::ShareOf("size_gb", DISK_USED_TOLERANCE)),
        ],
    ),
    BaselinePart::One(text("os")),
    BaselinePart::Extra(
        "container",
        &[
            field("detected", ValueType::Flag, Tolerance::Exact),
            field("kind", ValueType::TextOrNull, Tolerance::Exact),
            field("cpu_limit", ValueType::NumberOrNull, Tolerance::Exact),
            field("memory_limit_gb", ValueType::NumberOrNull, Tolerance::Exact),
        ],
    ),
];

/// The parts of an answer about the software.
pub(super) const SOFTWARE: &[BaselinePart] = &[
    BaselinePart::One(text("os_version")),
    BaselinePart::One(text("kernel")),
    BaselinePart::One(text("python_version")),
    BaselinePart::Packages("packages"),
    BaselinePart::About("packages_scope", &["key", "all"]),
];

impl BaselinePart {
    /// Its key.
    pub(super) fn name(&self) -> &'static str {
        match self {
            BaselinePart::One(field) => field.name,
            BaselinePart::Object(name, _)
            | BaselinePart::Extra(name, _)
            | BaselinePart::List(name, _)
            | BaselinePart::Packages(name)
            | BaselinePart::About(name, _) => name,
        }
    }

    /// True if the seed has it: an answer is known by these, and one that is missing was added.
    pub(super) fn is_of_seed(&self) -> bool {
        !matches!(self, BaselinePart::Extra(..) | BaselinePart::About(..))
    }

    /// Checks that a value has the type that such an answer has here.
    pub(super) fn check(&self, value: &Value) -> Result<(), BaselineError> {
        let name = self.name();
        let wrong = |expected| BaselineError::Shape { pointer: format!("/{name}"), expected };
        match self {
            BaselinePart::One(field) => field.check(value, &format!("/{name}")),
            BaselinePart::Object(_, fields) | BaselinePart::Extra(_, fields) => {
                check_fields(value, fields, &format!("/{name}"))
            }
            BaselinePart::List(_, fields) => {
                let elements = value.as_array().filter(|all| all.len() <= MAX_ELEMENTS);
                let elements =
                    elements.ok_or_else(|| wrong("an array of at most 10000 objects"))?;
                for (index, element) in elements.iter().enumerate() {
                    let pointer = format!("/{name}/{index}");
                    check_fields(element, fields, &pointer)?;
                    let identity = fields[0].name;
                    if element.get(identity).is_none() {
                        let pointer = format!("{pointer}/{identity}");
                        return Err(BaselineError::Shape { pointer, expected: "there" });
                    }
                }
                Ok(())
            }
            BaselinePart::Packages(_) => {
                let packages = value.as_array().filter(|all| all.len() <= MAX_PACKAGES);
                let packages = packages.ok_or_else(|| wrong("an array of at most 200000 texts"))?;
                match packages.iter().position(|package| !package.is_string()) {
                    None => Ok(()),
                    Some(index) => Err(BaselineError::Shape {
                        pointer: format!("/{name}/{index}"),
                        expected: "a text such as `git==2.39.2`",
                    }),
                }
            }
            BaselinePart::About(_, words) => match value.as_str() {
                Some(word) if words.contains(&word) => Ok(()),
                _ => Err(wrong("`key` or `all`")),
            },
        }
    }
}

impl Field {
    fn check(&self, value: &Value, pointer: &str) -> Result<(), BaselineError> {
        let (fits, expected) = match self.holds {
            ValueType::Text => (value.is_string(), "a text"),
            ValueType::TextOrNull => (value.is_string() || value.is_null(), "a text or null"),
            ValueType::Number => (value.is_number(), "a number"),
            ValueType::NumberOrNull => (value.is_number() || value.is_null(), "a number or null"),
            ValueType::Flag => (value.is_boolean(), "true or false"),
        };
        let wrong = || BaselineError::Shape { pointer: pointer.to_owned(), expected };
        if fits { Ok(()) } else { Err(wrong()) }
    }
}

fn check_fields(value: &Value, fields: &[Field], pointer: &str) -> Result<(), BaselineError> {
    let Some(values) = value.as_object() else {
        return Err(BaselineError::Shape { pointer: pointer.to_owned(), expected: "an object" });
    };
    for field in fields {
        if let Some(value) = values.get(field.name) {
            field.check(value, &format!("{pointer}/{}", field.name))?;
        }
    }
    Ok(())
}
