//! A report as JUnit XML.

use std::time::Duration;

use crate::{Check, CheckOutcome, CheckSuite, FindingSeverity, ProbeFinding, ProbeReport};

/// The whole document: a suite for every tool, a case for every check.
pub fn document(report: &ProbeReport) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let checks = || report.suites.iter().flat_map(|suite| &suite.checks);
    let cut = report.cut.as_deref();
    text += &format!(
        "<testsuites name=\"{}\" {}>\n",
        escaped(&format!("toolgate probe {}", report.server)),
        numbers(checks(), cut)
    );
    for (index, suite) in report.suites.iter().enumerate() {
        // A reader that only counts failures must not take an incomplete probe for a good one.
        one(&mut text, suite, report, cut.filter(|_| index == 0));
    }
    text += "</testsuites>\n";
    text
}

fn one(text: &mut String, suite: &CheckSuite, report: &ProbeReport, cut: Option<&str>) {
    let name = escaped(suite.subject());
    *text += &format!("  <testsuite name=\"{name}\" {}>\n", numbers(suite.checks.iter(), cut));
    *text += &format!(
        "    <properties>\n      <property name=\"protocol\" value=\"{}\"/>\n      \
         <property name=\"seed\" value=\"{}\"/>\n    </properties>\n",
        escaped(&report.protocol),
        report.seed
    );
    for check in &suite.checks {
        case(text, &name, check);
    }
    if let Some(cut) = cut {
        *text += &format!(
            "    <testcase classname=\"{name}\" name=\"the probe is complete\" time=\"0.000\">\n      \
             <error type=\"cut\" message=\"{}\"/>\n    </testcase>\n",
            escaped(cut)
        );
    }
    *text += "  </testsuite>\n";
}

fn case(text: &mut String, suite: &str, check: &Check) {
    let title = escaped(&check.title);
    let time = seconds(check.took);
    *text += &format!("    <testcase classname=\"{suite}\" name=\"{title}\" time=\"{time}\">\n");
    let is_failure = |one: &&ProbeFinding| one.rule.severity == FindingSeverity::Failure;
    let (failures, others): (Vec<_>, Vec<_>) = check.findings.iter().partition(is_failure);
    if let Some(first) = failures.first() {
        *text += &format!(
            "      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
            first.rule.id,
            escaped(&first.message),
            escaped(&words(&failures))
        );
    }
    if check.outcome == CheckOutcome::Skipped {
        let reason = escaped(check.reason.as_deref().unwrap_or_default());
        *text += &format!("      <skipped message=\"{reason}\"/>\n");
    }
    if !others.is_empty() {
        *text += &format!("      <system-out>{}</system-out>\n", escaped(&words(&others)));
    }
    *text += "    </testcase>\n";
}

/// Findings in lines.
fn words(findings: &[&ProbeFinding]) -> String {
    let lines = findings.iter().map(|finding| {
        let rule = finding.rule;
        let mut text =
            format!("{} ({}): {}: {}", rule.severity, rule.id, rule.title, finding.message);
        if let Some(input) = &finding.input {
            text += &format!("\ninput: {input}");
        }
        if !finding.pointers.is_empty() {
            text += &format!("\nat: {}", finding.pointers.join(" "));
        }
        text + &format!("\nfix: {}\n", rule.fix)
    });
    lines.collect()
}

/// The numbers of checks, and their duration.
fn numbers<'a>(checks: impl Iterator<Item = &'a Check>, cut: Option<&str>) -> String {
    let errors = usize::from(cut.is_some());
    let (mut tests, mut failures, mut skipped) = (errors, 0, 0);
    let mut took = Duration::ZERO;
    for check in checks {
        tests += 1;
        failures += usize::from(check.outcome == CheckOutcome::Failed);
        skipped += usize::from(check.outcome == CheckOutcome::Skipped);
        took += check.took;
    }
    format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{}\"",
        seconds(took)
    )
}

fn seconds(took: Duration) -> String {
    format!("{:.3}", took.as_secs_f64())
}

/// Text escaped for XML. Characters that XML cannot have are written as escapes.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\n' => safe += "&#10;",
            '\t' => safe += "&#9;",
            '\u{fffe}' | '\u{ffff}' => safe.extend(one.escape_unicode()),
            one if one.is_control() => safe.extend(one.escape_unicode()),
            one => safe.push(one),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn everything_can_be_written() {
        assert_eq!(escaped("a<b & \"c\"\n"), "a&lt;b &amp; &quot;c&quot;&#10;");
        assert_eq!(escaped("\u{0}\u{1b}[m\u{ffff}é"), "\\u{0}\\u{1b}[m\\u{ffff}é");
        assert_eq!(escaped("]]>"), "]]&gt;");
    }
}
