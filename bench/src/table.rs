//! The tables of a run.

use crate::load::Figures;

/// The figures of one target, by its name.
pub type Row = (String, Vec<Figures>);

/// The head of a table whose ratios are against this floor.
pub fn header(floor: &str) -> String {
    format!(
        "conn  {:<30} {:>9}  {:>11}  {:>9}  {:>9}  {:>15}  {:>7}",
        "target",
        "calls/s",
        format!("× {floor}"),
        "p50 µs",
        "p99 µs",
        format!("p99 × {floor}"),
        "cpu µs",
    )
}

/// One line for each target, with the floor first.
pub fn print(connections: usize, rows: &[Row]) {
    let floor = median(&rows[0].1);
    for (name, rounds) in rows {
        let figures = median(rounds);
        // Where there is no server, its time is not known.
        let cpu = if figures.cpu.is_nan() { "-".to_owned() } else { format!("{:.0}", figures.cpu) };
        let errors = match figures.errors {
            0 => String::new(),
            errors => format!("  and {errors} errors"),
        };
        println!(
            "{connections:>4}  {name:<30} {:>9.0}  {:>11.2}  {:>9.0}  {:>9.0}  {:>15.2}  {cpu:>7}{errors}",
            figures.per_second,
            figures.per_second / floor.per_second,
            figures.p50,
            figures.p99,
            figures.p99 / floor.p99,
        );
    }
}

/// The middle of all rounds, and the errors of all of them: none may be hidden by a median.
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
        cpu: middle(|one| one.cpu),
        errors: rounds.iter().map(|one| one.errors).sum(),
    }
}
