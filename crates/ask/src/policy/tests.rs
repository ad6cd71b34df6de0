//! What the rules must stop, and what they must not.

mod fair;
mod neighbours;
mod stopped;
mod variants;
mod work;

use std::time::{Duration, Instant};

use fair::FAIR;
use stopped::STOPPED;
use variants::{FAIR_TOO, STOPPED_TOO};
use work::WORK;

use super::*;

fn policy() -> Policy {
    Policy::new(&Settings::default()).unwrap()
}

fn stopping(policy: &Policy, question: &str) -> Option<String> {
    policy.check(question).err().map(|blocked| blocked.rule)
}

#[test]
fn what_must_be_stopped_is_stopped_by_its_rule() {
    let policy = policy();
    let mut wrong = Vec::new();
    for (rule, questions) in STOPPED.iter().chain(STOPPED_TOO) {
        for question in *questions {
            let stopped = stopping(&policy, question);
            if stopped.as_deref() != Some(rule) {
                wrong.push(format!("{question:?}: {stopped:?}, not {rule}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn fair_questions_pass() {
    let policy = policy();
    let mut wrong = Vec::new();
    for question in FAIR.iter().chain(WORK).chain(FAIR_TOO) {
        if let Some(rule) = stopping(&policy, question) {
            wrong.push(format!("{question:?}: {rule}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Other spellings of the same question.
fn spellings(question: &str) -> Vec<String> {
    let wide = |one: char| match one {
        '!'..='~' => char::from_u32(u32::from(one) + 0xfee0).unwrap(),
        _ => one,
    };
    let with = |mark: char| question.chars().flat_map(move |one| [one, mark]).collect::<String>();
    vec![
        question.to_uppercase(),
        question.chars().map(wide).collect(),
        with('\u{200b}'),
        with('\u{ad}'),
        with('\u{336}'),
        with('\u{fe0f}'),
        question.replace(' ', "\u{a0}\n \t"),
        question.replace('\'', "’"),
        format!("\u{202e}{question}\u{202c}"),
    ]
}

#[test]
fn another_spelling_is_the_same_question() {
    let policy = policy();
    for (rule, questions) in STOPPED.iter().chain(STOPPED_TOO) {
        for spelling in questions.iter().flat_map(|question| spellings(question)) {
            assert_eq!(stopping(&policy, &spelling).as_deref(), Some(*rule), "{spelling:?}");
        }
    }
    for spelling in FAIR.iter().chain(WORK).chain(FAIR_TOO).flat_map(|question| spellings(question))
    {
        assert_eq!(stopping(&policy, &spelling), None, "{spelling:?}");
    }
}

#[test]
fn every_default_rule_holds_what_its_description_says() {
    let policy = policy();
    for rule in DEFAULT_RULES {
        assert_eq!(stopping(&policy, rule.stops).as_deref(), Some(rule.name));
        assert_eq!(stopping(&policy, rule.passes), None, "{}", rule.passes);
        assert!(STOPPED.iter().any(|(name, _)| *name == rule.name), "{}", rule.name);
    }
}

#[test]
fn the_tables_are_long_enough_to_mean_something() {
    assert!(STOPPED.iter().map(|(_, questions)| questions.len()).sum::<usize>() >= 150);
    assert!(FAIR.len() + WORK.len() >= 500);
}

#[test]
fn the_patterns_are_short_enough_to_be_read() {
    for rule in DEFAULT_RULES {
        assert!(rule.pattern().len() < 5_000, "{}", rule.name);
    }
}

#[test]
fn a_rule_can_be_left_out_and_another_added() {
    let own = Rule {
        name: "merger".to_owned(),
        pattern: r"\bproject Falcon\b|strasse".to_owned(),
        message: Some("Ask the legal department.".to_owned()),
    };
    let settings = Settings { without: vec!["break_in".to_owned()], block: vec![own] };
    let policy = Policy::new(&settings).unwrap();
    assert_eq!(policy.check("How do I hack a website?"), Ok(()));
    assert_eq!(stopping(&policy, "I want to kill myself").as_deref(), Some("self_harm"));
    let blocked = policy.check("What about Project  FALCON?").unwrap_err();
    assert_eq!(blocked.rule, "merger");
    assert_eq!(blocked.message.as_deref(), Some("Ask the legal department."));
    assert_eq!(blocked.to_string(), "the question is stopped by the rule `merger`");
    assert_eq!(stopping(&policy, "Which Straße?").as_deref(), Some("merger"));
}

#[test]
fn settings_with_a_mistake_make_no_policy() {
    let settings = Settings { without: vec!["nothing".to_owned()], block: Vec::new() };
    let said = Policy::new(&settings).unwrap_err();
    assert!(said.starts_with("`without/0` there is no rule `nothing`"), "{said}");
}

#[test]
fn anything_may_be_asked_and_takes_no_long_time() {
    let policy = policy();
    let started = Instant::now();
    for question in [
        String::new(),
        "\0\u{1}\u{fffd}".repeat(10_000),
        "how to ".repeat(20_000),
        "ignore all the of your ".repeat(5_000),
        "ﷺ".repeat(5_000),
        "e\u{301}\u{200b}".repeat(20_000),
    ] {
        assert_eq!(policy.check(&question), Ok(()));
    }
    // Minutes if a pattern took more than linear time; unoptimised builds are slow by themselves.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn other_wordings_are_stopped_and_their_fair_neighbours_pass() {
    let policy = policy();
    let mut wrong = Vec::new();
    for (rule, questions) in neighbours::STOPPED_AS_WELL {
        let plain = questions.iter().map(|question| (*question).to_owned());
        for question in plain.chain(questions.iter().flat_map(|question| spellings(question))) {
            let stopped = stopping(&policy, &question);
            if stopped.as_deref() != Some(rule) {
                wrong.push(format!("{question:?}: {stopped:?}, not {rule}"));
            }
        }
    }
    for question in neighbours::FAIR_AS_WELL {
        wrong.extend(stopping(&policy, question).map(|rule| format!("{question:?}: {rule}")));
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
