//! `toolgate quarantine`: answers that broke their contract, and what to do about them.

mod adopt;
mod marked;
mod show;

use anyhow::bail;
use clap::{Args, Subcommand};
use gate::{
    Catalogue,
    approvals::MAX_REASON_CHARACTERS,
    quarantine::{
        NOTICED_AFTER, QuarantineFilter, QuarantineState, QuarantineSummary, ReleaseDecision,
        ReleaseResult,
    },
};
use serde_json::json;
use store::DataFolder;

use crate::{
    Exit, commands,
    printer::Printer,
    settings::Flags,
    wiring::{self, Kept},
};

/// How many entries are listed.
const MAX_LISTED: usize = 200;
/// What the journal calls a decision that was made here.
const BY: &str = "operator (terminal)";

/// See which answers broke their contract, and decide what becomes of them
///
/// Works on the data folder, whether or not a server runs on it. Whoever can write the data folder
/// is the operator.
#[derive(Args)]
pub struct Quarantine {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List what is quarantined, newest first
    List(List),
    /// Show an answer, and where it breaks the contract
    Show {
        /// The id of the entry
        id: String,
    },
    /// Let the caller have an answer: once, when the same call is made again
    Release {
        /// The id of the entry
        id: String,
        /// Why, for the journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Make the contract of the tool wide enough for an answer
    ///
    /// Writes overlays/SERVER/TOOL.yaml for a tool of an upstream, and overlays/TOOLSET/TOOL.yaml
    /// for one of your own, for you to edit. A running server takes the first by itself, and the second
    /// when it starts again.
    Adopt {
        /// The id of the entry
        id: String,
        /// Why, for the journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

#[derive(Args, Default)]
struct List {
    /// Only in this state: held, passed, released, delivered or adopted
    #[arg(long, value_name = "STATE", value_parser = state)]
    status: Option<QuarantineState>,
    /// Only answers of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only answers to this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Only those older than this one
    #[arg(long, value_name = "ID", value_parser = id)]
    cursor: Option<String>,
}

impl Quarantine {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let loaded = flags.load()?;
        commands::is_not_in_vain(&loaded)?;
        if !loaded.has_data() && !loaded.data_dir().is_file() {
            return self.nothing(printer);
        }
        let data = DataFolder::open(&loaded.data_dir())?;
        // Nothing is called here: a contract with a mistake keeps nobody from looking.
        let kept = wiring::gate(Catalogue::default(), &loaded, data, None)?;
        let runtime = commands::runtime()?;
        match &self.command {
            None => runtime.block_on(self.list(&kept, &List::default(), printer)),
            Some(Command::List(list)) => runtime.block_on(self.list(&kept, list, printer)),
            Some(Command::Show { id }) => runtime.block_on(self.show(&kept, id, printer)),
            Some(Command::Release { id, reason }) => {
                let decision = decision(reason.as_ref())?;
                runtime.block_on(self.release(&kept, id, decision, printer))
            }
            Some(Command::Adopt { id, reason }) => {
                let decision = decision(reason.as_ref())?;
                let adopting = adopt::adopt(self.json, &kept, id, decision, flags, printer);
                runtime.block_on(adopting)
            }
        }
    }

    /// Nothing was ever kept, and to look is no reason to make a data folder.
    fn nothing(&self, printer: &Printer) -> anyhow::Result<Exit> {
        match &self.command {
            None | Some(Command::List(_)) => {
                self.print(&[], None, printer);
                Ok(Exit::Ok)
            }
            Some(
                Command::Show { id } | Command::Release { id, .. } | Command::Adopt { id, .. },
            ) => Ok(unknown(&given(id)?, printer)),
        }
    }

    fn print(&self, entries: &[QuarantineSummary], next: Option<String>, printer: &Printer) {
        if self.json {
            printer.json(&json!({ "entries": entries, "next_cursor": next }));
        } else if entries.is_empty() {
            printer.say("nothing of that is quarantined");
        } else {
            show::list(entries, printer);
            if let Some(next) = next {
                printer.say(format!("there are more: --cursor {next}"));
            }
        }
    }

    async fn list(&self, kept: &Kept, list: &List, printer: &Printer) -> anyhow::Result<Exit> {
        let now = kept.gate.clock().now();
        let filter = QuarantineFilter {
            state: list.status,
            tool: list.tool.clone(),
            caller: list.caller.clone(),
            cursor: list.cursor.clone(),
            limit: MAX_LISTED + 1,
        };
        let mut entries = kept.gate.store().all_quarantined(filter, now).await?;
        let more = entries.len() > MAX_LISTED;
        entries.truncate(MAX_LISTED);
        let next = entries.last().filter(|_| more).map(|one| one.id.clone());
        self.print(&entries, next, printer);
        Ok(Exit::Ok)
    }

    async fn show(&self, kept: &Kept, id: &str, printer: &Printer) -> anyhow::Result<Exit> {
        let id = given(id)?;
        let Some(entry) = kept.gate.store().quarantined(&id, kept.gate.clock().now()).await? else {
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
        kept: &Kept,
        id: &str,
        decision: ReleaseDecision,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        let id = given(id)?;
        Ok(match kept.gate.release(&id, decision).await? {
            ReleaseResult::Unknown => unknown(&id, printer),
            ReleaseResult::Refused(_, why) => {
                printer.say(format!("{id} cannot be released: {why}"));
                Exit::Failed
            }
            ReleaseResult::Done(entry) => {
                // From when this is said, every server on the folder knows it.
                tokio::time::sleep(NOTICED_AFTER).await;
                if self.json {
                    printer.json(&entry);
                } else {
                    let until = entry.expires_at.unwrap_or(entry.created_at);
                    printer.data(format!(
                        "released: {id}, to {} who calls {} with the same arguments until {until}",
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
    if reason.is_some_and(|words| words.chars().count() > MAX_REASON_CHARACTERS) {
        bail!("--reason must be a text of at most {MAX_REASON_CHARACTERS} characters");
    }
    Ok(ReleaseDecision { by: BY.into(), reason: reason.cloned() })
}

fn unknown(id: &str, printer: &Printer) -> Exit {
    printer.say(format!("nothing is quarantined as {id}"));
    Exit::Failed
}

fn state(word: &str) -> Result<QuarantineState, String> {
    QuarantineState::parse(word).ok_or_else(|| {
        let words = QuarantineState::ALL.map(QuarantineState::word).join(", ");
        format!("must be one of {words}")
    })
}

fn id(text: &str) -> Result<String, String> {
    let text = text.trim();
    if QuarantineSummary::is_id(text) {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is not the id of a quarantined answer; `toolgate quarantine` lists them"))
}

/// The id that a person typed.
fn given(text: &str) -> anyhow::Result<String> {
    id(text).map_err(anyhow::Error::msg)
}
