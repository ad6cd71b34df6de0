//! `toolgate lock`: pins what upstreams offer, tells what changed, and takes it.

use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use contract::compare::{Change, Class};
use serde_json::json;
use upstream::{
    Host, Member,
    lock::{self, Difference, Lock, Pinned, What},
    settings::Changes,
};

use crate::{
    Answer, commands,
    printer::Printer,
    settings::{Flags, Loaded},
    wiring::{
        self,
        upstreams::{self, Which},
    },
};

/// Pin what upstreams offer, see what changed, and take it
///
/// Without a command: pins every upstream that is not pinned yet, and leaves the others as they
/// are. Exit code 1 if something is not as it was pinned.
#[derive(Args)]
pub struct LockCommand {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Show what is not as it was pinned; exit code 1 if anything is
    Diff {
        /// An upstream, or upstream.tool
        what: Option<String>,
    },
    /// Pin what is offered now
    Accept {
        /// An upstream, or upstream.tool; everything where it is left out
        what: Option<String>,
    },
}

/// What of which upstream.
struct Meant<'a> {
    id: Option<&'a str>,
    tool: Option<&'a str>,
}

impl<'a> Meant<'a> {
    /// Ids have no dot in them, tools may.
    fn read(text: Option<&'a String>) -> Self {
        match text.map(|text| {
            text.split_once('.').map_or((text.as_str(), None), |(id, tool)| (id, Some(tool)))
        }) {
            None => Self { id: None, tool: None },
            Some((id, tool)) => Self { id: Some(id), tool },
        }
    }
}

impl LockCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Answer> {
        let (loaded, bound) = match commands::ready(flags, printer)? {
            Ok(ready) => ready,
            Err(answer) => return Ok(answer),
        };
        let what = match &self.command {
            Some(Command::Diff { what } | Command::Accept { what }) => what.as_ref(),
            None => None,
        };
        let meant = Meant::read(what);
        commands::upstream::is_known(&loaded, meant.id)?;
        let fixed = wiring::tools(bound, &loaded)?;
        let plan = upstreams::plan(&loaded, meant.id.map_or(Which::All, Which::One), &fixed)?;
        let file = plan.lock_file.clone();
        let before = plan.lock.clone();
        commands::runtime()?.block_on(async {
            let host = Host::start(plan);
            host.settled().await;
            let answer = match &self.command {
                None => self.pin(&host, before, &file, printer),
                Some(Command::Diff { .. }) => {
                    Ok(self.show(&host, &before.unwrap_or_default(), &meant, printer))
                }
                Some(Command::Accept { .. }) => {
                    self.accept(&loaded, &host, before, &meant, &file, printer)
                }
            };
            host.stop().await;
            answer
        })
    }

    /// Pins what is not pinned yet.
    fn pin(
        &self,
        host: &Host,
        before: Option<Lock>,
        file: &std::path::Path,
        printer: &Printer,
    ) -> anyhow::Result<Answer> {
        let mut lock = before.unwrap_or_default();
        let mut fresh = Vec::new();
        for (member, offer) in reached(host) {
            if !lock.upstreams.contains_key(&member.id) {
                lock.upstreams.insert(member.id.clone(), Pinned::of(&offer));
                fresh.push((&member.id, offer.tools.len()));
            }
        }
        if !fresh.is_empty() {
            lock.write(file)?;
        }
        for (id, tools) in fresh {
            printer.say(format!("pinned {id} with {} in {}", count(tools, "tool"), file.display()));
        }
        let answer = self.show(host, &lock, &Meant { id: None, tool: None }, printer);
        Ok(answer)
    }

    /// Tells what is not as it was pinned.
    fn show(&self, host: &Host, lock: &Lock, meant: &Meant<'_>, printer: &Printer) -> Answer {
        let nothing = Pinned::default();
        let mut all = Vec::new();
        let mut unknown = false;
        for member in enabled(host) {
            let Some(offer) = member.offer() else {
                unknown = true;
                printer.say(format!("{}: {}", member.id, unreached(member)));
                continue;
            };
            let pinned = lock.upstreams.get(&member.id).unwrap_or(&nothing);
            let differences = lock::between(pinned, &offer).into_iter();
            let of_meant = differences
                .filter(|one| meant.tool.is_none_or(|tool| one.kind == "tool" && one.name == tool));
            all.extend(of_meant.map(|one| (member.id.clone(), one)));
        }
        if self.json {
            let listed: Vec<_> = all
                .iter()
                .map(|(id, one)| {
                    let mut value = serde_json::to_value(one).unwrap_or_default();
                    value["upstream"] = json!(id);
                    value
                })
                .collect();
            printer.json(&json!({ "differences": listed }));
        } else {
            for (id, difference) in &all {
                describe(id, difference, printer);
            }
            if all.is_empty() && !unknown {
                printer.say("everything is as it was pinned");
            }
        }
        match (unknown, all.is_empty()) {
            (true, _) => Answer::CouldNotTell,
            (false, true) => Answer::Yes,
            (false, false) => Answer::No,
        }
    }

    /// Pins what is offered now.
    fn accept(
        &self,
        loaded: &Loaded,
        host: &Host,
        before: Option<Lock>,
        meant: &Meant<'_>,
        file: &std::path::Path,
        printer: &Printer,
    ) -> anyhow::Result<Answer> {
        let mut lock = before.unwrap_or_default();
        let mut taken = 0;
        for member in enabled(host) {
            let offer =
                member.offer().with_context(|| format!("{}: {}", member.id, unreached(member)))?;
            let pinned = lock.upstreams.entry(member.id.clone()).or_default();
            let differences = lock::between(pinned, &offer);
            let of_meant = differences
                .iter()
                .filter(|one| meant.tool.is_none_or(|tool| one.kind == "tool" && one.name == tool));
            let count = of_meant.count();
            let frozen = loaded.settings.upstreams[&member.id].changes == Changes::Freeze;
            if count > 0 && frozen && !pinned.tools.is_empty() {
                bail!(
                    "upstreams.{}.changes is `freeze`; set it to `review` to take changes",
                    member.id
                );
            }
            if count > 0 {
                pinned.accept(&offer, meant.tool);
                taken += count;
            }
        }
        // What the settings do not name any more is not served, and not pinned either.
        if meant.id.is_none() {
            lock.upstreams.retain(|id, _| loaded.settings.upstreams.contains_key(id));
        }
        lock.write(file)?;
        if self.json {
            printer.json(&json!({ "accepted": taken }));
        } else {
            printer.say(format!("took {} into {}", count(taken, "change"), file.display()));
        }
        Ok(Answer::Yes)
    }
}

fn enabled(host: &Host) -> impl Iterator<Item = &Arc<Member>> {
    host.members().iter().filter(|member| member.settings.enabled)
}

fn reached(host: &Host) -> Vec<(&Arc<Member>, Arc<upstream::Offer>)> {
    enabled(host).filter_map(|member| Some((member, member.offer()?))).collect()
}

fn unreached(member: &Member) -> String {
    match member.phase() {
        upstream::Phase::Down { error } => format!("cannot be reached: {error}"),
        _ => "cannot be reached".into(),
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A difference in words.
fn describe(id: &str, difference: &Difference, printer: &Printer) {
    let name = match difference.name.as_str() {
        "" => id.to_owned(),
        name => format!("{id}.{name}"),
    };
    let class = match (difference.what, difference.class) {
        (What::Changed, Class::Wording) => " (wording: models read it)".to_owned(),
        (What::Changed, class) => format!(" ({})", class.word()),
        _ => String::new(),
    };
    printer.data(format!("{name}: {} {}{class}", difference.kind, difference.what.word()));
    for change in &difference.changes {
        let Change { part, class, pointer, text, .. } = change;
        let blank = if pointer.is_empty() { "" } else { " " };
        printer.data(format!("  {:9} {part}{blank}{pointer}: {text}", class.word()));
    }
}
