//! A report for people.

use gate::visible_text::visible_line;
use probe::{Check, Finding, FindingSeverity, Outcome, Report, Rule, Suite};

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
    for severity in [FindingSeverity::Failure, FindingSeverity::Warning, FindingSeverity::Note] {
        for broken in all_broken(report).iter().filter(|one| one.rule.severity == severity) {
            broken.show(printer);
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

/// A rule, and everything that breaks it.
struct Broken<'a> {
    rule: &'static Rule,
    kinds: Vec<Kind<'a>>,
}

/// Findings that say the same of one tool or of several.
struct Kind<'a> {
    subjects: Vec<&'a str>,
    check: &'a Check,
    finding: &'a Finding,
    more: usize,
}

fn all_broken(report: &Report) -> Vec<Broken<'_>> {
    let mut all: Vec<Broken<'_>> = Vec::new();
    for (suite, check, finding) in report.findings() {
        match all.iter_mut().find(|broken| broken.rule == finding.rule) {
            Some(broken) => broken.add(suite, check, finding),
            None => {
                let kind = Kind { subjects: vec![suite.subject()], check, finding, more: 0 };
                all.push(Broken { rule: finding.rule, kinds: vec![kind] });
            }
        }
    }
    all
}

impl<'a> Broken<'a> {
    fn add(&mut self, suite: &'a Suite, check: &'a Check, finding: &'a Finding) {
        let subject = suite.subject();
        let own = self.kinds.iter_mut().find(|kind| kind.subjects == [subject]);
        if let Some(own) = own {
            own.more += 1;
            return;
        }
        // What needed no arguments and is the same for many is said once.
        let same = |kind: &&mut Kind<'_>| {
            finding.input.is_none()
                && kind.finding.input.is_none()
                && kind.finding.message == finding.message
        };
        match self.kinds.iter_mut().find(same) {
            Some(kind) => kind.subjects.push(subject),
            None => self.kinds.push(Kind { subjects: vec![subject], check, finding, more: 0 }),
        }
    }

    fn show(&self, printer: &Printer) {
        let rule = self.rule;
        printer.data(format!("\n{}: {} ({})", rule.severity.word(), rule.title, rule.id));
        for kind in &self.kinds {
            kind.show(printer);
        }
        printer.data(format!("  fix: {}", rule.fix));
    }
}

impl Kind<'_> {
    fn show(&self, printer: &Printer) {
        let (check, finding) = (self.check, self.finding);
        printer.data(format!("  {}", self.subjects.join(", ")));
        let line =
            |name: &str, text: &str| printer.data(format!("    {name:<6} {}", visible_line(text)));
        line("check", &check.title);
        line("found", &finding.message);
        if let Some(input) = &finding.input {
            line("input", &shortened(&input.to_string()));
        }
        if !finding.pointers.is_empty() {
            let shown: Vec<_> = finding.pointers.iter().take(MAX_POINTERS).cloned().collect();
            line("at", &shown.join(" "));
        }
        if self.more > 0 {
            line("more", &format!("{} like it", self.more));
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_INPUT_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
