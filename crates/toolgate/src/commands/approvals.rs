//! `toolgate approvals`: lists calls that wait for approval, and decides on them.

mod show;
mod watch;

use clap::{Args, Subcommand};
use gate::{
    Approval, ApprovalId, ApprovalState, Gate, Timestamp,
    approvals::{ApprovalDecision, ApprovalFilter, DecisionResult},
};
use serde_json::json;

use crate::{
    Exit,
    commands::{self, MAX_LISTED, ids::IdKind},
    printer::Printer,
    settings::Flags,
    wiring::{self, OpenGate},
};

/// List calls that wait for approval, and approve or refuse them
///
/// Works on the data folder, with or without a running server. After a decision a waiting job
/// continues by itself; an agent repeats its call. Everybody who can write to the data folder is
/// the operator.
#[derive(Args)]
pub struct ApprovalsCommand {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Also list requests that are decided or expired
    #[arg(long)]
    all: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Show a request: its arguments, and what the call would do
    Show {
        /// The id of the request, or 4 characters or more of its end
        id: String,
    },
    /// Approve a call: it may run once
    Approve {
        /// The id of the request, or 4 characters or more of its end
        id: String,
        /// Reason, for the journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Refuse a call
    Refuse {
        /// The id of the request, or 4 characters or more of its end
        id: String,
        /// Reason; the agent sees it
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Wait for requests and ask about each of them, until Ctrl-C
    Watch,
}

impl ApprovalsCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let opened = match (commands::records(flags)?, &self.command) {
            (Some(opened), _) => opened,
            (None, Some(Command::Watch)) => wiring::records(&flags.load()?)?,
            (None, None) => {
                self.print(&[], false, Timestamp(0), printer);
                return Ok(Exit::Ok);
            }
            (
                None,
                Some(
                    Command::Show { id } | Command::Approve { id, .. } | Command::Refuse { id, .. },
                ),
            ) => {
                ID.check(id)?;
                return Ok(unknown(id, printer));
            }
        };
        let runtime = commands::runtime()?;
        match &self.command {
            None => runtime.block_on(self.list(&opened, printer)),
            Some(Command::Show { id }) => runtime.block_on(self.show(&opened, id, printer)),
            Some(Command::Approve { id, reason }) => {
                runtime.block_on(self.decide(&opened, id, true, reason.clone(), printer))
            }
            Some(Command::Refuse { id, reason }) => {
                runtime.block_on(self.decide(&opened, id, false, reason.clone(), printer))
            }
            Some(Command::Watch) => runtime.block_on(watch::watch(&opened, printer)),
        }
    }

    async fn list(&self, opened: &OpenGate, printer: &Printer) -> anyhow::Result<Exit> {
        let state = (!self.all).then_some(ApprovalState::Waiting);
        let now = opened.gate.clock().now();
        let filter =
            ApprovalFilter { state, cursor: None, oldest_first: false, limit: MAX_LISTED + 1 };
        let mut approvals = opened.gate.store().approvals(filter, now).await?;
        let more = approvals.len() > MAX_LISTED;
        approvals.truncate(MAX_LISTED);
        // A list leaves large arguments out; a person has to see what there is of them.
        for approval in approvals.iter_mut().filter(|one| one.input.is_none() && !self.json) {
            if let Some(whole) = opened.gate.store().approval(&approval.id, now).await? {
                approval.input = whole.input;
            }
        }
        self.print(&approvals, more, now, printer);
        Ok(Exit::Ok)
    }

    fn print(&self, approvals: &[Approval], more: bool, now: Timestamp, printer: &Printer) {
        if self.json {
            let next = approvals.last().filter(|_| more).map(|one| &one.id);
            printer.json(&json!({ "approvals": approvals, "next_cursor": next }));
        } else if approvals.is_empty() {
            printer.say("no call is waiting for approval");
        } else {
            show::list(approvals, now, printer);
            if more {
                printer.say(format!(
                    "these are the newest {MAX_LISTED}; `GET /v1/approvals` lists older ones, \
                     `toolgate approvals watch` starts with the oldest"
                ));
            }
        }
    }

    async fn show(&self, opened: &OpenGate, id: &str, printer: &Printer) -> anyhow::Result<Exit> {
        let now = opened.gate.clock().now();
        let approval = match find(&opened.gate, id).await? {
            Some(id) => opened.gate.store().approval(&id, now).await?,
            None => None,
        };
        let Some(approval) = approval else { return Ok(unknown(id, printer)) };
        if self.json {
            printer.json(&approval);
        } else {
            show::one(&approval, printer);
        }
        Ok(Exit::Ok)
    }

    async fn decide(
        &self,
        opened: &OpenGate,
        id: &str,
        approve: bool,
        reason: Option<String>,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        commands::check_reason(reason.as_ref())?;
        let Some(id) = find(&opened.gate, id).await? else { return Ok(unknown(id, printer)) };
        let verdict = ApprovalDecision { approve, by: commands::OPERATOR.into(), reason };
        Ok(match opened.gate.decide(&id, verdict).await? {
            DecisionResult::Unknown => unknown(id.as_str(), printer),
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
                printer.say(format!("{id} is already {}", approval.state.word()));
                Exit::Failed
            }
        })
    }
}

fn unknown(id: &str, printer: &Printer) -> Exit {
    printer.say(format!("there is no approval {}", id.trim()));
    Exit::Failed
}

/// The ids of approvals.
const ID: IdKind = IdKind { prefix: "apr_", noun: "an approval", list: "toolgate approvals --all" };

/// The approval that a person means; none if there is none that fits.
pub(super) async fn find(gate: &Gate, text: &str) -> anyhow::Result<Option<ApprovalId>> {
    let page = async |behind: Option<String>| {
        let cursor = behind.as_deref().and_then(ApprovalId::parse);
        let filter = ApprovalFilter { state: None, cursor, oldest_first: false, limit: MAX_LISTED };
        let page = gate.store().approvals(filter, gate.clock().now()).await?;
        Ok(page.iter().map(|one| one.id.to_string()).collect())
    };
    Ok(ID.find(text, page).await?.as_deref().and_then(ApprovalId::parse))
}
