//! `toolgate approvals watch`: asks about each request as it comes.

use std::{collections::HashSet, time::Duration};

use gate::{
    Approval, ApprovalState,
    approvals::{ApprovalFilter, Decided, Verdict},
};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use super::{BY, MAX_LISTED, show};
use crate::{Answer, printer::Printer, wiring::Kept};

/// How often to look for new requests.
const LOOK: Duration = Duration::from_millis(500);

/// What a person types.
enum Typed {
    Decide(bool, Option<String>),
    Later,
    Quit,
    Unclear,
}

/// Asks until stdin ends, the person has enough, or Ctrl-C.
pub async fn watch(kept: &Kept, printer: &Printer) -> anyhow::Result<Answer> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut left = HashSet::new();
    printer.say("waiting for requests; Ctrl-C ends");
    loop {
        let now = kept.gate.clock().now();
        let state = Some(ApprovalState::Waiting);
        let filter = ApprovalFilter { state, cursor: None, limit: MAX_LISTED };
        let mut waiting = kept.gate.store().approvals(filter, now).await?;
        // The oldest has waited longest.
        waiting.reverse();
        let Some(next) = waiting.into_iter().find(|one| !left.contains(&one.id)) else {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => continue,
                _ = tokio::signal::ctrl_c() => return Ok(Answer::Yes),
            }
        };
        match ask(&next, &mut lines, printer).await? {
            Typed::Quit => return Ok(Answer::Yes),
            Typed::Later => {
                left.insert(next.id);
            }
            Typed::Unclear => {}
            Typed::Decide(approve, reason) => {
                let verdict = Verdict { approve, by: BY.into(), reason };
                let told = match kept.gate.decide(&next.id, verdict).await? {
                    Decided::Done(approval) => approval.state.word().to_owned(),
                    Decided::TooLate(approval) => format!("already {}", approval.state.word()),
                    Decided::Unknown => "gone".to_owned(),
                };
                printer.data(format!("{told}: {}\n", next.id));
            }
        }
    }
}

async fn ask(
    approval: &Approval,
    lines: &mut Lines<BufReader<Stdin>>,
    printer: &Printer,
) -> anyhow::Result<Typed> {
    show::one(approval, printer);
    printer.say("\napprove? [y]es, [n]o, n because…, [l]ater, [q]uit");
    let line = tokio::select! {
        line = lines.next_line() => line?,
        _ = tokio::signal::ctrl_c() => None,
    };
    // Nobody there is not a yes.
    Ok(line.map_or(Typed::Quit, |line| read(line.trim())))
}

fn read(line: &str) -> Typed {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let reason = Some(rest.trim().to_owned()).filter(|words| !words.is_empty());
    match word.to_lowercase().as_str() {
        "y" | "yes" => Typed::Decide(true, reason),
        "n" | "no" => Typed::Decide(false, reason),
        "l" | "later" => Typed::Later,
        "q" | "quit" => Typed::Quit,
        // Pressing return, or a word that means neither, decides nothing.
        _ => Typed::Unclear,
    }
}
