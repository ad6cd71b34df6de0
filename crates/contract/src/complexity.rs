//! The cost of checking a value against a schema, measured without a value.
//!
//! A schema of a few lines can ask for more checks than there are atoms: each of thirty
//! definitions refers twice to the next one. A validator follows; so what it would have to do is
//! counted first, over the subschemas of the schema and not over the paths through them.

use crate::{
    SchemaError,
    dialect::Applicator,
    subschemas::{SubschemaId, Subschemas},
};

/// The largest number of checks of one value, by all parts of a schema together.
pub const MAX_CHECKS: u64 = 100_000;
/// The longest path from the root of a schema to the check of the last part of a value, in steps.
/// Each takes about a kilobyte of a stack of two megabytes.
pub const MAX_STEPS: usize = 1_000;
/// The largest depth of a value: JSON parsers stop there.
pub const MAX_VALUE_DEPTH: usize = 128;
/// The depth of values that a schema must at least be able to check.
const MIN_DEPTH: usize = 4;
/// The largest number of checks for a list of violations.
const MAX_LISTING_CHECKS: u64 = 1_000_000;

/// The bounds of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Complexity {
    /// The largest number of checks of one part of a value.
    pub checks: u64,
    /// The largest depth of a value that is safe to check; `None` where the schema itself ends
    /// sooner.
    pub depth: Option<usize>,
    /// Up to which depth of a value every violation can be listed. A list remembers nothing, so
    /// that a schema which comes back to itself by several ways asks for more with every level.
    /// `None` where it does not matter.
    pub listing_depth: Option<usize>,
}

/// Weighs a schema, or refuses it.
pub fn measure(subschemas: &Subschemas) -> Result<Complexity, SchemaError> {
    let order = inner_first(subschemas)?;
    let level = steps_beside(subschemas, &order) + 1;
    if level > MAX_STEPS {
        let message =
            format!("is too complex: it takes more than {MAX_STEPS} steps to check one value");
        return Err(SchemaError::new("", message));
    }
    let whole = walk_all(subschemas);
    if whole.checks > MAX_CHECKS {
        let message = format!("is too complex: it checks one value more than {MAX_CHECKS} times");
        return Err(SchemaError::new("", message));
    }
    let listing_depth = if whole.recursive { listing_depth(subschemas, &order) } else { None };
    let mut depth = (whole.recursive || whole.longest > MAX_STEPS)
        .then(|| (MAX_STEPS / level).clamp(1, MAX_VALUE_DEPTH));
    // What is not evaluated is found out without remembering anything, as a list is.
    if whole.evaluates
        && let Some(listed) = listing_depth
    {
        if listed < MIN_DEPTH {
            let message = format!("is too complex for values of {MIN_DEPTH} levels");
            return Err(SchemaError::new("", message));
        }
        depth = Some(depth.map_or(listed, |depth| depth.min(listed)));
    }
    Ok(Complexity { checks: whole.checks, depth, listing_depth })
}

/// The number of steps from the root of a schema to its farthest subschema, by the longest path that
/// comes to no subschema twice.
pub fn longest_path(subschemas: &Subschemas) -> usize {
    walk_all(subschemas).longest
}

/// The subschemas in an order in which each comes after all that speak about the same value and
/// that it leads to.
fn inner_first(subschemas: &Subschemas) -> Result<Vec<SubschemaId>, SchemaError> {
    let mut order = Vec::with_capacity(subschemas.all.len());
    let mut state = vec![VisitState::New; subschemas.all.len()];
    for start in 0..subschemas.all.len() {
        let mut stack = vec![(start, false)];
        while let Some((subschema, done)) = stack.pop() {
            if done {
                state[subschema] = VisitState::Done;
                order.push(subschema);
                continue;
            }
            if state[subschema] != VisitState::New {
                continue;
            }
            state[subschema] = VisitState::Open;
            stack.push((subschema, true));
            for (_, next) in subschemas.in_place(subschema) {
                match state[next] {
                    VisitState::New => stack.push((next, false)),
                    VisitState::Open => {
                        return Err(SchemaError::new(
                            &*subschemas.all[subschema].pointer,
                            "refers to itself in a loop",
                        ));
                    }
                    VisitState::Done => {}
                }
            }
        }
    }
    Ok(order)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    Open,
    Done,
}

struct SchemaTotals {
    checks: u64,
    longest: usize,
    recursive: bool,
    /// True if a keyword depends on what others have evaluated.
    evaluates: bool,
}

/// Goes through a schema as its validator is made: what leads back to where we are is looked up
/// by the validator when it comes there again, and so is counted once.
fn walk_all(subschemas: &Subschemas) -> SchemaTotals {
    let count = subschemas.all.len();
    let mut state = vec![VisitState::New; count];
    let mut found = vec![CheckSum::default(); count];
    let (mut recursive, mut evaluates) = (false, false);
    let mut stack = vec![(0, false)];
    while let Some((subschema, done)) = stack.pop() {
        if done {
            let next = subschemas.in_place(subschema).chain(subschemas.children(subschema));
            recursive |= next.into_iter().any(|(_, next)| state[next] != VisitState::Done);
            let get = |next: SubschemaId| match state[next] {
                VisitState::Done => found[next],
                _ => CheckSum::ONE,
            };
            found[subschema] = sum(subschemas, subschema, &get, &get);
            evaluates |= subschemas.children(subschema).any(|(applicator, _)| asks(applicator));
            state[subschema] = VisitState::Done;
            continue;
        }
        if state[subschema] != VisitState::New {
            continue;
        }
        state[subschema] = VisitState::Open;
        stack.push((subschema, true));
        let next = subschemas
            .in_place(subschema)
            .chain(subschemas.children(subschema))
            .map(|(_, next)| next);
        stack.extend(next.filter(|next| state[*next] == VisitState::New).map(|next| (next, false)));
    }
    SchemaTotals { checks: found[0].all(), longest: found[0].longest, recursive, evaluates }
}

/// The checks that a subschema causes.
#[derive(Debug, Clone, Copy, Default)]
struct CheckSum {
    /// Checks of the value itself.
    here: u64,
    /// Checks of one part of the value and of all that is in it.
    below: u64,
    /// The longest way to the last check.
    longest: usize,
}

impl CheckSum {
    const ONE: Self = Self { here: 1, below: 0, longest: 1 };

    fn all(self) -> u64 {
        self.here.saturating_add(self.below)
    }
}

fn sum(
    subschemas: &Subschemas,
    subschema: SubschemaId,
    beside: &dyn Fn(SubschemaId) -> CheckSum,
    below: &dyn Fn(SubschemaId) -> CheckSum,
) -> CheckSum {
    let mut total = CheckSum::ONE;
    let mut add = |next: CheckSum| {
        total.here = total.here.saturating_add(next.here);
        total.below = total.below.saturating_add(next.below);
        total.longest = total.longest.max(next.longest + 1);
    };
    let inner =
        subschemas.all[subschema].inner.iter().filter(|(part, _)| part.applicator.is_in_place());
    inner.for_each(|(_, next)| add(beside(*next)));
    for reference in &subschemas.all[subschema].references {
        // A dynamic reference goes one of its ways.
        let ways = reference.target.subschemas().iter().map(|next| beside(*next));
        if let Some(heaviest) = ways.max_by_key(|way| way.all()) {
            add(heaviest);
        }
    }
    let (mut named, mut patterns, mut items, mut some) = (0, 0u64, 0, 0u64);
    let mut again = false;
    for (applicator, next) in subschemas.children(subschema) {
        let next = below(next);
        total.longest = total.longest.max(next.longest + 1);
        again |= asks(applicator);
        match applicator {
            Applicator::Property(_)
            | Applicator::AdditionalProperties
            | Applicator::UnevaluatedProperties => {
                named = next.all().max(named);
            }
            Applicator::Pattern(_) => patterns = patterns.saturating_add(next.all()),
            Applicator::Contains => some = some.saturating_add(next.all()),
            _ => items = next.all().max(items),
        }
    }
    if again {
        // What is evaluated is found out by going through everything beside it once more.
        total.here = total.here.saturating_mul(2);
        total.below = total.below.saturating_mul(2);
    }
    let own = named.saturating_add(patterns).max(items.saturating_add(some));
    total.below = total.below.saturating_add(own);
    total
}

/// True for keywords that depend on what others have evaluated.
fn asks(applicator: Applicator) -> bool {
    matches!(applicator, Applicator::UnevaluatedItems | Applicator::UnevaluatedProperties)
}

/// The longest way from subschema to subschema that stays with one value.
fn steps_beside(subschemas: &Subschemas, order: &[SubschemaId]) -> usize {
    let mut steps = vec![1; subschemas.all.len()];
    for subschema in order {
        let longest =
            subschemas.in_place(*subschema).map(|(_, next)| steps[next]).max().unwrap_or(0);
        steps[*subschema] = longest + 1;
    }
    steps.into_iter().max().unwrap_or(1)
}

/// The largest depth of a value whose violations can all be listed.
fn listing_depth(subschemas: &Subschemas, order: &[SubschemaId]) -> Option<usize> {
    let mut above = vec![CheckSum::ONE; subschemas.all.len()];
    for depth in 0..MAX_VALUE_DEPTH {
        let mut now = vec![CheckSum::default(); subschemas.all.len()];
        for subschema in order {
            // What is beside has been summed up for this level, what is below for the one before.
            now[*subschema] = sum(subschemas, *subschema, &|next| now[next], &|next| above[next]);
        }
        above = now;
        if above[0].all() > MAX_LISTING_CHECKS {
            return Some(depth);
        }
    }
    None
}
