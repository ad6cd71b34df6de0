//! `toolgate approvals`: what agents want to do, and your word on it.

mod show;
mod watch;

use anyhow::bail;
use clap::{Args, Subcommand};
use gate::{
    ApprovalId, ApprovalState, Catalogue,
    approvals::{ApprovalDecision, ApprovalFilter, DecisionResult, MAX_REASON_CHARACTERS},
};
use serde_json::json;
use store::DataFolder;

use crate::{
    Exit, commands,
    printer::Printer,
    settings::Flags,
    wiring::{self, Kept},
};

/// How many requests are listed.
const MAX_LISTED: usize = 200;
/// What the journal calls a decision that was made here.
const BY: &str = "operator (terminal)";

/// See which calls wait for your approval, and decide
///
/// Works on the data folder, whether or not a server runs on it: a job that waits goes on by
/// itself, and an agent that was told to wait makes its call again. Whoever can write the data
/// folder is the operator.
#[derive(Args)]
pub struct Approvals {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// List those that are decided or over too
    #[arg(long)]
    all: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Show a request: the arguments, and what the call would do
    Show {
        /// The id of the request
        id: String,
    },
    /// Let a call run, once
    Approve {
        /// The id of the request
        id: String,
        /// Why, for the journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Refuse a call
    Refuse {
        /// The id of the request
        id: String,
        /// Why; the agent reads it
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Wait for requests and ask about each of them, until you end it
    Watch,
}

impl Approvals {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let loaded = flags.load()?;
        commands::is_not_in_vain(&loaded)?;
        if !loaded.has_data()
            && !loaded.data_dir().is_file()
            && let Some(answer) = self.nothing(printer)?
        {
            return Ok(answer);
        }
        let data = DataFolder::open(&loaded.data_dir())?;
        // Nothing is called here: a contract with a mistake keeps nobody from deciding.
        let kept = wiring::gate(Catalogue::default(), &loaded, data, None)?;
        let runtime = commands::runtime()?;
        match &self.command {
            None => runtime.block_on(self.list(&kept, printer)),
            Some(Command::Show { id }) => runtime.block_on(self.show(&kept, id, printer)),
            Some(Command::Approve { id, reason }) => {
                runtime.block_on(self.decide(&kept, id, true, reason.clone(), printer))
            }
            Some(Command::Refuse { id, reason }) => {
                runtime.block_on(self.decide(&kept, id, false, reason.clone(), printer))
            }
            Some(Command::Watch) => runtime.block_on(watch::watch(&kept, printer)),
        }
    }

    /// Nothing was ever kept, so nobody ever asked, and to look is no reason to make a data folder. Whoever
    /// watches waits for what is to come.
    fn nothing(&self, printer: &Printer) -> anyhow::Result<Option<Exit>> {
        Ok(match &self.command {
            None => {
                if self.json {
                    printer.json(&json!({ "approvals": [], "next_cursor": null }));
                } else {
                    printer.say("nothing waits for an approval");
                }
                Some(Exit::Ok)
            }
            Some(
                Command::Show { id } | Command::Approve { id, .. } | Command::Refuse { id, .. },
            ) => Some(unknown(&self::id(id)?, printer)),
            Some(Command::Watch) => None,
        })
    }

    async fn list(&self, kept: &Kept, printer: &Printer) -> anyhow::Result<Exit> {
        let state = (!self.all).then_some(ApprovalState::Waiting);
        let now = kept.gate.clock().now();
        let filter =
            ApprovalFilter { state, cursor: None, oldest_first: false, limit: MAX_LISTED + 1 };
        let mut approvals = kept.gate.store().approvals(filter, now).await?;
        let more = approvals.len() > MAX_LISTED;
        approvals.truncate(MAX_LISTED);
        if self.json {
            let next = approvals.last().filter(|_| more).map(|one| &one.id);
            printer.json(&json!({ "approvals": approvals, "next_cursor": next }));
        } else if approvals.is_empty() {
            printer.say("nothing waits for an approval");
        } else {
            show::list(&approvals, now, printer);
            if more {
                printer.say(format!(
                    "these are the newest {MAX_LISTED}; `GET /v1/approvals` has the older ones, \
                     and `approvals watch` begins with the oldest"
                ));
            }
        }
        Ok(Exit::Ok)
    }

    async fn show(&self, kept: &Kept, id: &str, printer: &Printer) -> anyhow::Result<Exit> {
        let id = self::id(id)?;
        let Some(approval) = kept.gate.store().approval(&id, kept.gate.clock().now()).await? else {
            return Ok(unknown(&id, printer));
        };
        if self.json {
            printer.json(&approval);
        } else {
            show::one(&approval, printer);
        }
        Ok(Exit::Ok)
    }

    async fn decide(
        &self,
        kept: &Kept,
        id: &str,
        approve: bool,
        reason: Option<String>,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        let id = self::id(id)?;
        if reason.as_ref().is_some_and(|words| words.chars().count() > MAX_REASON_CHARACTERS) {
            bail!("--reason must be a text of at most {MAX_REASON_CHARACTERS} characters");
        }
        let verdict = ApprovalDecision { approve, by: BY.into(), reason };
        Ok(match kept.gate.decide(&id, verdict).await? {
            DecisionResult::Unknown => unknown(&id, printer),
            DecisionResult::Done(approval) => {
                if self.json {
                    printer.json(&approval);
                } else {
                    let (word, tool) = (approval.state.word(), &approval.tool);
                    printer.data(format!("{word}: {id}, {tool} for {}", approval.caller));
                }
                Exit::Ok
            }
            DecisionResult::TooLate(approval) => {
                printer
                    .say(format!("{id} is {} and can no more be decided", approval.state.word()));
                Exit::Failed
            }
        })
    }
}

fn unknown(id: &ApprovalId, printer: &Printer) -> Exit {
    printer.say(format!("there is no approval {id}"));
    Exit::Failed
}

/// The id that a person typed.
pub(super) fn id(text: &str) -> anyhow::Result<ApprovalId> {
    match ApprovalId::parse(text.trim()) {
        Some(id) => Ok(id),
        None => bail!("`{text}` is not the id of an approval; `toolgate approvals` lists them"),
    }
}
