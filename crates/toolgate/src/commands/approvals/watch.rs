//! `toolgate approvals watch`: asks about each request as it comes.

use std::{
    collections::HashSet,
    io::{BufRead, ErrorKind, IsTerminal},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gate::{
    Approval, ApprovalId, ApprovalState,
    approvals::{ApprovalDecision, ApprovalFilter, DecisionResult},
};
use tokio::sync::mpsc::{self, error::TrySendError};

use super::show;
use crate::{
    Exit,
    commands::{MAX_LISTED, OPERATOR},
    interrupts,
    printer::Printer,
    wiring::OpenGate,
};

/// The time between two looks for new requests.
const INTERVAL: Duration = Duration::from_millis(500);

/// The most lines that are read ahead.
const MAX_LINES: usize = 1_000;

/// The decision that a person types.
enum TypedDecision {
    Decide(bool, Option<String>),
    Later,
    Quit,
    Unclear,
}

/// Asks until stdin ends, the person quits, or there is a signal.
pub async fn watch(opened: &OpenGate, printer: &Printer) -> anyhow::Result<Exit> {
    let stop = interrupts::token();
    let mut lines = TypedLines::of_stdin();
    let mut left = HashSet::new();
    printer.say("waiting for requests; press Ctrl-C to stop");
    loop {
        let now = opened.gate.clock().now();
        let Some(next) = next(opened, &left).await? else {
            if lines.have_ended() {
                return Ok(Exit::Ok);
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => continue,
                () = stop.cancelled() => return Ok(Exit::Ok),
            }
        };
        // The list does not have all of it.
        let Some(next) = opened.gate.store().approval(&next.id, now).await? else { continue };
        let typed = tokio::select! {
            typed = ask(&next, &mut lines, printer) => typed?,
            () = stop.cancelled() => TypedDecision::Quit,
        };
        match typed {
            TypedDecision::Quit => return Ok(Exit::Ok),
            TypedDecision::Later => {
                left.insert(next.id);
            }
            TypedDecision::Unclear => {}
            TypedDecision::Decide(approve, reason) => {
                let verdict = ApprovalDecision { approve, by: OPERATOR.into(), reason };
                let told = match opened.gate.decide(&next.id, verdict).await? {
                    DecisionResult::Done(approval) => approval.state.word().to_owned(),
                    DecisionResult::TooLate(approval) => {
                        format!("already {}", approval.state.word())
                    }
                    DecisionResult::Unknown => "gone".to_owned(),
                };
                printer.data(format!("{told}: {}\n", next.id));
            }
        }
    }
}

/// The oldest waiting request that is not left for later.
async fn next(opened: &OpenGate, left: &HashSet<ApprovalId>) -> anyhow::Result<Option<Approval>> {
    let mut cursor = None;
    loop {
        let state = Some(ApprovalState::Waiting);
        let filter = ApprovalFilter { state, cursor, oldest_first: true, limit: MAX_LISTED };
        let waiting = opened.gate.store().approvals(filter, opened.gate.clock().now()).await?;
        cursor = waiting.last().map(|one| one.id.clone());
        if let Some(next) = waiting.into_iter().find(|one| !left.contains(&one.id)) {
            return Ok(Some(next));
        }
        if cursor.is_none() {
            return Ok(None);
        }
    }
}

async fn ask(
    approval: &Approval,
    lines: &mut TypedLines,
    printer: &Printer,
) -> anyhow::Result<TypedDecision> {
    show::one(approval, printer);
    lines.forget_typed_ahead();
    printer.say("\napprove? [y]es, [n]o, n because…, [l]ater, [q]uit");
    let line = lines.read.recv().await.transpose()?;
    // No answer is not an approval.
    Ok(line.map_or(TypedDecision::Quit, |line| read(line.trim())))
}

/// The lines of stdin, read by a thread of their own: a thread of the runtime would keep the command alive until
/// somebody presses return once more.
struct TypedLines {
    read: mpsc::Receiver<std::io::Result<String>>,
    interactive: bool,
    /// True once stdin has ended.
    over: Arc<AtomicBool>,
}

impl TypedLines {
    fn of_stdin() -> Self {
        let (sender, read) = mpsc::channel(MAX_LINES);
        let interactive = std::io::stdin().is_terminal();
        let over = Arc::new(AtomicBool::new(false));
        let ended = over.clone();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let line = match line {
                    // What is not text decides nothing.
                    Err(error) if error.kind() == ErrorKind::InvalidData => Ok(String::new()),
                    line => line,
                };
                let gone = if interactive {
                    // What was typed ahead beyond the limit is dropped.
                    matches!(sender.try_send(line), Err(TrySendError::Closed(_)))
                } else {
                    sender.blocking_send(line).is_err()
                };
                if gone {
                    break;
                }
            }
            ended.store(true, Ordering::SeqCst);
        });
        Self { read, interactive, over }
    }

    /// Drops what was typed before the request was shown: it was not meant for it.
    fn forget_typed_ahead(&mut self) {
        while self.interactive && self.read.try_recv().is_ok() {}
    }

    /// True if stdin has ended. Lines that are left were for requests that did not come.
    fn have_ended(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }
}

fn read(line: &str) -> TypedDecision {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let reason = Some(rest.trim().to_owned()).filter(|words| !words.is_empty());
    match word.to_lowercase().as_str() {
        "y" | "yes" => TypedDecision::Decide(true, reason),
        "n" | "no" => TypedDecision::Decide(false, reason),
        "l" | "later" => TypedDecision::Later,
        "q" | "quit" => TypedDecision::Quit,
        // Pressing return, or a word that means neither, decides nothing.
        _ => TypedDecision::Unclear,
    }
}
