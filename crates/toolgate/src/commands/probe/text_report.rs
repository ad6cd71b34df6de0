//! Prints a report as text.

use gate::visible_text::visible_line;
use probe::{
    Check, CheckOutcome, CheckSuite, FindingSeverity, ProbeFinding, ProbeReport, ProbeRule,
};

use crate::printer::Printer;

/// The longest arguments that are shown, in characters.
const MAX_INPUT_CHARS: usize = 400;
/// The number of JSON pointers that are shown of one finding.
const MAX_POINTERS: usize = 5;

/// Prints the numbers for every tool, then the findings, the gravest first.
pub fn print(report: &ProbeReport, printer: &Printer) {
    let protocol = match report.protocol.as_str() {
        doors @ "every door" => doors.to_owned(),
        version => format!("protocol {version}"),
    };
    printer.data(format!("{}, {protocol}\n", report.server));
    let rows: Vec<_> = report.suites.iter().map(row).collect();
    printer.table(&["TOOL", "PASSED", "FAILED", "SKIPPED", ""], &rows);
    for severity in [FindingSeverity::Failure, FindingSeverity::Warning, FindingSeverity::Note] {
        for broken in all_broken(report).iter().filter(|one| one.rule.severity == severity) {
            broken.show(printer);
        }
    }
    if let Some(cut) = &report.cut {
        printer.say(format!("\nthe probe ended early: {cut}"));
    }
    let count = |outcome| report.count(outcome);
    let (passed, failed) = (count(CheckOutcome::Passed), count(CheckOutcome::Failed));
    let skipped = count(CheckOutcome::Skipped);
    printer.say(format!("\n{passed} passed, {failed} failed, {skipped} skipped"));
}

fn row(suite: &CheckSuite) -> Vec<String> {
    let count = |outcome| suite.count(outcome).to_string();
    let reason = suite.checks.iter().find_map(|check| check.reason.clone());
    vec![
        suite.subject().to_owned(),
        count(CheckOutcome::Passed),
        count(CheckOutcome::Failed),
        count(CheckOutcome::Skipped),
        reason.unwrap_or_default(),
    ]
}

struct RuleFindings<'a> {
    rule: &'static ProbeRule,
    kinds: Vec<FindingGroup<'a>>,
}

/// The same finding for one tool or several.
struct FindingGroup<'a> {
    subjects: Vec<&'a str>,
    check: &'a Check,
    finding: &'a ProbeFinding,
    more: usize,
}

fn all_broken(report: &ProbeReport) -> Vec<RuleFindings<'_>> {
    let mut all: Vec<RuleFindings<'_>> = Vec::new();
    for (suite, check, finding) in report.findings() {
        match all.iter_mut().find(|broken| broken.rule == finding.rule) {
            Some(broken) => broken.add(suite, check, finding),
            None => {
                let kind =
                    FindingGroup { subjects: vec![suite.subject()], check, finding, more: 0 };
                all.push(RuleFindings { rule: finding.rule, kinds: vec![kind] });
            }
        }
    }
    all
}

impl<'a> RuleFindings<'a> {
    fn add(&mut self, suite: &'a CheckSuite, check: &'a Check, finding: &'a ProbeFinding) {
        let subject = suite.subject();
        let own = self.kinds.iter_mut().find(|kind| kind.subjects == [subject]);
        if let Some(own) = own {
            own.more += 1;
            return;
        }
        // The same finding for several tools is printed once.
        let same = |kind: &&mut FindingGroup<'_>| {
            finding.input.is_none()
                && kind.finding.input.is_none()
                && kind.finding.message == finding.message
        };
        match self.kinds.iter_mut().find(same) {
            Some(kind) => kind.subjects.push(subject),
            None => {
                self.kinds.push(FindingGroup { subjects: vec![subject], check, finding, more: 0 });
            }
        }
    }

    fn show(&self, printer: &Printer) {
        let rule = self.rule;
        printer.data(format!("\n{}: {} ({})", rule.severity, rule.title, rule.id));
        for kind in &self.kinds {
            kind.show(printer);
        }
        printer.data(format!("  fix: {}", rule.fix));
    }
}

impl FindingGroup<'_> {
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
            line("more", &format!("{} similar findings", self.more));
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_INPUT_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
