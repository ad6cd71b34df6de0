//! `toolgate quarantine`: lists results that broke their contract, and releases or adopts them.

mod adopt;
mod annotated;
mod show;

use clap::{Args, Subcommand};
use gate::quarantine::{
    NOTICED_AFTER, QuarantineFilter, QuarantineState, QuarantineSummary, ReleaseDecision,
    ReleaseResult,
};
use serde_json::json;

use crate::{
    Exit,
    commands::{self, MAX_LISTED, ids::IdKind},
    printer::Printer,
    settings::Flags,
    wiring::OpenGate,
};

/// List results that broke their contract, and release or adopt them
///
/// Works on the data folder, with or without a running server. Everybody who can write to the data
/// folder is the operator.
#[derive(Args)]
pub struct QuarantineCommand {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List quarantined results, newest first
    List(ListArguments),
    /// Show a result, and where it breaks its contract
    Show {
        /// The id of the entry, or 4 characters or more of its end
        id: String,
    },
    /// Release a result to its caller: once, when the same call is made again
    Release {
        /// The id of the entry, or 4 characters or more of its end
        id: String,
        /// Reason, for the journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Widen the contract of the tool so that it accepts a result
    ///
    /// Writes an overlay, a file that changes a contract: overlays/SERVER/TOOL.yaml for a tool of an
    /// upstream, overlays/TOOLSET/TOOL.yaml for a tool of your own. A running server reloads
    /// it.
    Adopt {
        /// The id of the entry, or 4 characters or more of its end
        id: String,
        /// Reason, for the journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

#[derive(Args, Default)]
struct ListArguments {
    /// Show only this state: held, passed, released, delivered or adopted
    #[arg(long, value_name = "STATE", value_parser = state)]
    status: Option<QuarantineState>,
    /// Show only results of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Show only results for this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Show only entries older than this one
    #[arg(long, value_name = "ID")]
    cursor: Option<String>,
}

impl QuarantineCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let Some(opened) = commands::records(flags)? else { return self.no_data(printer) };
        let runtime = commands::runtime()?;
        match &self.command {
            None => runtime.block_on(self.list(&opened, &ListArguments::default(), printer)),
            Some(Command::List(list)) => runtime.block_on(self.list(&opened, list, printer)),
            Some(Command::Show { id }) => runtime.block_on(self.show(&opened, id, printer)),
            Some(Command::Release { id, reason }) => {
                let decision = decision(reason.as_ref())?;
                runtime.block_on(self.release(&opened, id, decision, printer))
            }
            Some(Command::Adopt { id, reason }) => {
                let decision = decision(reason.as_ref())?;
                let adopting = adopt::adopt(self.json, &opened, id, decision, flags, printer);
                runtime.block_on(adopting)
            }
        }
    }

    /// The output for a data folder that was never used, without creating one.
    fn no_data(&self, printer: &Printer) -> anyhow::Result<Exit> {
        match &self.command {
            None | Some(Command::List(_)) => {
                self.print(&[], None, printer);
                Ok(Exit::Ok)
            }
            Some(
                Command::Show { id } | Command::Release { id, .. } | Command::Adopt { id, .. },
            ) => {
                ID.check(id)?;
                Ok(unknown(id, printer))
            }
        }
    }

    fn print(&self, entries: &[QuarantineSummary], next: Option<String>, printer: &Printer) {
        if self.json {
            printer.json(&json!({ "entries": entries, "next_cursor": next }));
        } else if entries.is_empty() {
            printer.say("no quarantined results");
        } else {
            show::list(entries, printer);
            if let Some(next) = next {
                printer.say(format!("for older entries use --cursor {next}"));
            }
        }
    }

    async fn list(
        &self,
        opened: &OpenGate,
        list: &ListArguments,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        let now = opened.gate.clock().now();
        let cursor = match &list.cursor {
            Some(text) => match find(opened, text).await? {
                Some(id) => Some(id),
                None => return Ok(unknown(text, printer)),
            },
            None => None,
        };
        let filter = QuarantineFilter {
            state: list.status,
            tool: list.tool.clone(),
            caller: list.caller.clone(),
            cursor,
            limit: MAX_LISTED + 1,
        };
        let mut entries = opened.gate.store().all_quarantined(filter, now).await?;
        let more = entries.len() > MAX_LISTED;
        entries.truncate(MAX_LISTED);
        let next = entries.last().filter(|_| more).map(|one| one.id.clone());
        self.print(&entries, next, printer);
        Ok(Exit::Ok)
    }

    async fn show(&self, opened: &OpenGate, id: &str, printer: &Printer) -> anyhow::Result<Exit> {
        let Some(id) = find(opened, id).await? else { return Ok(unknown(id, printer)) };
        let Some(entry) = opened.gate.store().quarantined(&id, opened.gate.clock().now()).await?
        else {
            return Ok(unknown(&id, printer));
        };
        if self.json {
            printer.json(&entry);
        } else {
            show::one(&entry, printer);
        }
        Ok(Exit::Ok)
    }

    async fn release(
        &self,
        opened: &OpenGate,
        id: &str,
        decision: ReleaseDecision,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        let Some(id) = find(opened, id).await? else { return Ok(unknown(id, printer)) };
        Ok(match opened.gate.release(&id, decision).await? {
            ReleaseResult::Unknown => unknown(&id, printer),
            ReleaseResult::Refused(_, why) => {
                printer.say(format!("{id} cannot be released: {why}"));
                Exit::Failed
            }
            ReleaseResult::Done(entry) => {
                // Every server on the folder knows it once this is printed.
                tokio::time::sleep(NOTICED_AFTER).await;
                if self.json {
                    printer.json(&entry);
                } else {
                    let until = entry.expires_at.unwrap_or(entry.created_at);
                    printer.data(format!(
                        "released {id}: {} gets it with the same call of {} before {until}",
                        gate::visible_text::visible_line(&entry.caller),
                        entry.tool
                    ));
                }
                Exit::Ok
            }
        })
    }
}

fn decision(reason: Option<&String>) -> anyhow::Result<ReleaseDecision> {
    commands::check_reason(reason)?;
    Ok(ReleaseDecision { by: commands::OPERATOR.into(), reason: reason.cloned() })
}

fn unknown(id: &str, printer: &Printer) -> Exit {
    printer.say(format!("there is no quarantined result {}", id.trim()));
    Exit::Failed
}

fn state(word: &str) -> Result<QuarantineState, String> {
    QuarantineState::parse(word).ok_or_else(|| {
        let words = QuarantineState::ALL.map(QuarantineState::word).join(", ");
        format!("must be one of {words}")
    })
}

/// The ids of quarantined results.
const ID: IdKind =
    IdKind { prefix: "q_", noun: "a quarantined result", list: "toolgate quarantine" };

/// The entry that a person means; none if there is none that fits.
async fn find(opened: &OpenGate, text: &str) -> anyhow::Result<Option<String>> {
    let (store, now) = (opened.gate.store(), opened.gate.clock().now());
    let page = async |cursor: Option<String>| {
        let filter = QuarantineFilter { cursor, limit: MAX_LISTED, ..QuarantineFilter::default() };
        let page = store.all_quarantined(filter, now).await?;
        Ok(page.into_iter().map(|one| one.id).collect())
    };
    ID.find(text, page).await
}
