//! Two things in one sentence: whose verb it is, what was done and what may be done, and what
//! nobody did.
//!
//! A line `@` is a text and the evidence of what follows, `+` an honest claim, `!` a dishonest one.
//! What stands after `||` is a quote that is shorter.

use super::ground;

/// A table, how many of its honest claims are delivered at least, and how many dishonest ones at
/// most. `plain.txt` has short ones, `pairs.txt` was written before the rules, `held.txt` and
/// `unseen.txt` behind them, to see what they miss in longer sentences. The others are of one kind
/// each: what a clause denies, figures of a list, tied clauses, conditions, the passive voice, what
/// may be or is planned. `short.txt` has some of each, and `later.txt` and `last.txt`
/// were written behind the rules.
struct Table {
    name: &'static str,
    text: &'static str,
    least_honest: usize,
    most_dishonest: usize,
}

const TABLES: &[Table] = &[
    Table {
        name: "plain",
        text: include_str!("clauses/plain.txt"),
        least_honest: 25,
        most_dishonest: 0,
    },
    Table {
        name: "pairs",
        text: include_str!("clauses/pairs.txt"),
        least_honest: 112,
        most_dishonest: 4,
    },
    Table {
        name: "held",
        text: include_str!("clauses/held.txt"),
        least_honest: 61,
        most_dishonest: 1,
    },
    Table {
        name: "unseen",
        text: include_str!("clauses/unseen.txt"),
        least_honest: 35,
        most_dishonest: 3,
    },
    Table {
        name: "short",
        text: include_str!("clauses/short.txt"),
        least_honest: 19,
        most_dishonest: 0,
    },
    Table {
        name: "denied",
        text: include_str!("clauses/denied.txt"),
        least_honest: 21,
        most_dishonest: 0,
    },
    Table {
        name: "portions",
        text: include_str!("clauses/portions.txt"),
        least_honest: 20,
        most_dishonest: 0,
    },
    Table {
        name: "bound",
        text: include_str!("clauses/bound.txt"),
        least_honest: 26,
        most_dishonest: 0,
    },
    Table {
        name: "conditions",
        text: include_str!("clauses/conditions.txt"),
        least_honest: 16,
        most_dishonest: 0,
    },
    Table {
        name: "passive",
        text: include_str!("clauses/passive.txt"),
        least_honest: 17,
        most_dishonest: 0,
    },
    Table {
        name: "possible",
        text: include_str!("clauses/possible.txt"),
        least_honest: 21,
        most_dishonest: 0,
    },
    Table {
        name: "later",
        text: include_str!("clauses/later.txt"),
        least_honest: 55,
        most_dishonest: 2,
    },
    Table {
        name: "embedded",
        text: include_str!("clauses/embedded.txt"),
        least_honest: 11,
        most_dishonest: 0,
    },
    Table {
        name: "last",
        text: include_str!("clauses/last.txt"),
        least_honest: 35,
        most_dishonest: 1,
    },
];

/// The claims with a mark that are delivered, the others with their reasons.
fn judged(table: &Table, mark: &str) -> (Vec<String>, Vec<String>) {
    let (mut delivered, mut refused) = (Vec::new(), Vec::new());
    let mut text = "";
    for line in table.text.lines() {
        let (one, rest) = line.split_once(' ').expect("a line has a mark and a text");
        if one == "@" {
            text = rest;
        } else if one == mark {
            let (claim, evidence) = rest.split_once(" || ").unwrap_or((rest, text));
            match ground(&serde_json::json!({ "text": text }), claim, evidence) {
                Ok(_) => delivered.push(format!("{claim} [{text}]")),
                Err(reason) => refused.push(format!("{claim} [{text}]: {reason}")),
            }
        }
    }
    (delivered, refused)
}

#[test]
fn what_one_clause_says_is_delivered() {
    for table in TABLES {
        let (delivered, refused) = judged(table, "+");
        let name = table.name;
        println!(
            "{name}: {} honest delivered, {} refused\n{refused:#?}",
            delivered.len(),
            refused.len()
        );
        assert!(delivered.len() >= table.least_honest, "{name}: {refused:#?}");
    }
}

#[test]
fn what_two_clauses_say_is_not_mixed() {
    for table in TABLES {
        let (delivered, refused) = judged(table, "!");
        let name = table.name;
        println!(
            "{name}: {} dishonest refused, {} delivered\n{delivered:#?}",
            refused.len(),
            delivered.len()
        );
        assert!(delivered.len() <= table.most_dishonest, "{name}: {delivered:#?}");
    }
}
