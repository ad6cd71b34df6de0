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
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc::{self, error::TrySendError},
};

use super::{BY, MAX_LISTED, show};
use crate::{Exit, printer::Printer, wiring::Kept};

/// How often to look for new requests.
const LOOK: Duration = Duration::from_millis(500);

/// How many lines are read before they are needed.
const MAX_LINES: usize = 1_000;

/// What a person types.
enum Typed {
    Decide(bool, Option<String>),
    Later,
    Quit,
    Unclear,
}

/// Asks until stdin ends, the person has enough, or Ctrl-C.
pub async fn watch(kept: &Kept, printer: &Printer) -> anyhow::Result<Exit> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut lines = Lines::of_stdin();
    let mut left = HashSet::new();
    printer.say("waiting for requests; Ctrl-C ends");
    loop {
        let now = kept.gate.clock().now();
        let Some(next) = next(kept, &left).await? else {
            if lines.are_over() {
                return Ok(Exit::Ok);
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => continue,
                _ = interrupted.recv() => return Ok(Exit::Ok),
            }
        };
        // The list has not all of it.
        let Some(next) = kept.gate.store().approval(&next.id, now).await? else { continue };
        let typed = tokio::select! {
            typed = ask(&next, &mut lines, printer) => typed?,
            _ = interrupted.recv() => Typed::Quit,
        };
        match typed {
            Typed::Quit => return Ok(Exit::Ok),
            Typed::Later => {
                left.insert(next.id);
            }
            Typed::Unclear => {}
            Typed::Decide(approve, reason) => {
                let verdict = ApprovalDecision { approve, by: BY.into(), reason };
                let told = match kept.gate.decide(&next.id, verdict).await? {
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

/// What has waited longest of what is not left for later.
async fn next(kept: &Kept, left: &HashSet<ApprovalId>) -> anyhow::Result<Option<Approval>> {
    let mut cursor = None;
    loop {
        let state = Some(ApprovalState::Waiting);
        let filter = ApprovalFilter { state, cursor, oldest_first: true, limit: MAX_LISTED };
        let waiting = kept.gate.store().approvals(filter, kept.gate.clock().now()).await?;
        cursor = waiting.last().map(|one| one.id.clone());
        if let Some(next) = waiting.into_iter().find(|one| !left.contains(&one.id)) {
            return Ok(Some(next));
        }
        if cursor.is_none() {
            return Ok(None);
        }
    }
}

async fn ask(approval: &Approval, lines: &mut Lines, printer: &Printer) -> anyhow::Result<Typed> {
    show::one(approval, printer);
    lines.forget_typed_ahead();
    printer.say("\napprove? [y]es, [n]o, n because…, [l]ater, [q]uit");
    let line = lines.read.recv().await.transpose()?;
    // Nobody there is not a yes.
    Ok(line.map_or(Typed::Quit, |line| read(line.trim())))
}

/// The lines of stdin. They are read by a thread of their own: one that the runtime waits for
/// would keep the command alive until somebody presses return once more.
struct Lines {
    read: mpsc::Receiver<std::io::Result<String>>,
    by_hand: bool,
    /// Whether there will be no more of them.
    over: Arc<AtomicBool>,
}

impl Lines {
    fn of_stdin() -> Self {
        let (sender, read) = mpsc::channel(MAX_LINES);
        let by_hand = std::io::stdin().is_terminal();
        let over = Arc::new(AtomicBool::new(false));
        let ended = over.clone();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let line = match line {
                    // What is no text decides nothing.
                    Err(error) if error.kind() == ErrorKind::InvalidData => Ok(String::new()),
                    line => line,
                };
                let gone = if by_hand {
                    // More than can be kept was typed ahead, and is not meant for anything.
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
        Self { read, by_hand, over }
    }

    /// A key that was pressed before a request could be seen was not meant for it.
    fn forget_typed_ahead(&mut self) {
        while self.by_hand && self.read.try_recv().is_ok() {}
    }

    /// Whether stdin has ended. Lines that are left were for requests that did not come.
    fn are_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }
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
