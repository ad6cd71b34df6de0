//! A report for people.

use gate::approvals::visible_line;
use upstream::probe::{Check, Finding, Outcome, Report, Severity, Suite};

use crate::printer::Printer;

/// How much of the arguments is shown, in characters.
const MAX_INPUT_CHARS: usize = 400;
/// How many places are shown of one finding.
const MAX_POINTERS: usize = 5;

/// Shows what came of a probe: numbers for every tool, then what was found, the gravest first.
pub fn report(report: &Report, printer: &Printer) {
    printer.data(format!("{} speaks {}\n", report.server, report.protocol));
    let rows: Vec<_> = report.suites.iter().map(row).collect();
    printer.table(&["TOOL", "PASSED", "FAILED", "SKIPPED", ""], &rows);
    for severity in [Severity::Failure, Severity::Warning, Severity::Note] {
        for group in groups(report).iter().filter(|group| group.severity() == severity) {
            show(group, printer);
        }
    }
    if let Some(cut) = &report.cut {
        printer.say(format!("\nnot everything was asked: {cut}"));
    }
    let count = |outcome| report.count(outcome);
    let (passed, failed) = (count(Outcome::Passed), count(Outcome::Failed));
    let skipped = count(Outcome::Skipped);
    printer.say(format!("\n{passed} passed, {failed} failed, {skipped} skipped"));
}

fn row(suite: &Suite) -> Vec<String> {
    let count = |outcome| suite.count(outcome).to_string();
    let reason = suite.checks.iter().find_map(|check| check.reason.clone());
    vec![
        suite.subject().to_owned(),
        count(Outcome::Passed),
        count(Outcome::Failed),
        count(Outcome::Skipped),
        reason.unwrap_or_default(),
    ]
}

/// Findings of one rule about one subject.
struct Group<'a> {
    suite: &'a Suite,
    found: Vec<(&'a Check, &'a Finding)>,
}

impl Group<'_> {
    fn severity(&self) -> Severity {
        self.found[0].1.rule.severity
    }
}

fn groups(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (suite, check, finding) in report.findings() {
        let known = groups.iter_mut().find(|group| {
            std::ptr::eq(group.suite, suite) && group.found[0].1.rule == finding.rule
        });
        match known {
            Some(group) => group.found.push((check, finding)),
            None => groups.push(Group { suite, found: vec![(check, finding)] }),
        }
    }
    groups
}

fn show(group: &Group<'_>, printer: &Printer) {
    let (check, finding) = group.found[0];
    let rule = finding.rule;
    let (word, subject) = (rule.severity.word(), group.suite.subject());
    printer.data(format!("\n{word}: {subject}: {} ({})", rule.title, rule.id));
    let line = |name: &str, text: &str| printer.data(format!("  {name:<6} {}", visible_line(text)));
    line("check", &check.title);
    line("found", &finding.message);
    if let Some(input) = &finding.input {
        line("input", &shortened(&input.to_string()));
    }
    if !finding.pointers.is_empty() {
        let shown: Vec<_> = finding.pointers.iter().take(MAX_POINTERS).cloned().collect();
        line("at", &shown.join(" "));
    }
    match group.found.len() - 1 {
        0 => {}
        more => line("more", &format!("{more} like it")),
    }
    line("fix", rule.fix);
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_INPUT_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
