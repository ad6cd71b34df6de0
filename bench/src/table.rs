//! The table of a run.

use crate::load::{Figures, Target};

/// Its head.
pub const HEADER: &str = "\
conn  target                       calls/s    × floor     p50 µs     p99 µs  p99 × floor";

/// One line for each target, with the floor first.
pub fn print(connections: usize, targets: &[Target], measured: &[Vec<Figures>]) {
    let floor = median(&measured[0]);
    for (target, figures) in targets.iter().zip(measured) {
        let figures = median(figures);
        println!(
            "{connections:>4}  {:<26} {:>9.0}  {:>9.2}  {:>9.0}  {:>9.0}  {:>11.2}",
            target.name,
            figures.per_second,
            figures.per_second / floor.per_second,
            figures.p50,
            figures.p99,
            figures.p99 / floor.p99,
        );
    }
}

fn median(rounds: &[Figures]) -> Figures {
    let middle = |pick: fn(&Figures) -> f64| {
        let mut values: Vec<_> = rounds.iter().map(pick).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Figures {
        per_second: middle(|one| one.per_second),
        p50: middle(|one| one.p50),
        p99: middle(|one| one.p99),
    }
}
