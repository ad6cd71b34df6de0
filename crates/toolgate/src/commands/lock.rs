//! `toolgate lock`: pins what upstreams offer, tells what changed, and takes it.

use std::sync::Arc;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use upstream::{
    Host, Member,
    lock::{self, Difference, Lock, LockError, Pinned, What},
    settings::Changes,
};
use workbench::compare::{Change, ChangeClass};

use crate::{
    Exit, commands, files,
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

    fn means(&self, difference: &Difference) -> bool {
        self.tool.is_none_or(|tool| difference.kind == "tool" && difference.name == tool)
    }
}

impl LockCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let (loaded, bound) = commands::ready(flags)?;
        let what = match &self.command {
            Some(Command::Diff { what } | Command::Accept { what }) => what.as_ref(),
            None => None,
        };
        let meant = Meant::read(what);
        commands::upstream::is_known(&loaded, meant.id)?;
        let fixed = wiring::tools(bound, &loaded)?;
        let plan =
            upstreams::plan_to_look(&loaded, meant.id.map_or(Which::All, Which::One), &fixed)?;
        let file = plan.lock_file.clone();
        let before = plan.lock.clone();
        commands::runtime()?.block_on(async {
            let host = Host::start(plan);
            host.settled().await;
            let known = is_known(&host, before.as_ref(), &meant);
            let answer = match &self.command {
                _ if known.is_err() => known.map(|()| Exit::Unknown),
                None => self.pin(&host, before, &file, printer),
                Some(Command::Diff { .. }) => {
                    Ok(self.show(&host, &before.unwrap_or_default(), &meant, None, printer))
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
    ) -> anyhow::Result<Exit> {
        let mut lock = before.unwrap_or_default();
        let mut fresh = Vec::new();
        for (member, offer) in reached(host) {
            if !lock.upstreams.contains_key(&member.id) {
                lock.upstreams.insert(member.id.clone(), Pinned::of(&offer));
                fresh.push((&member.id, offer.tools.len()));
            }
        }
        if !fresh.is_empty() {
            write(&lock, file)?;
        }
        for (id, tools) in &fresh {
            printer.say(format!(
                "pinned {id} with {} in {}",
                count(*tools, "tool"),
                file.display()
            ));
        }
        let pinned: Vec<_> =
            fresh.iter().map(|(id, tools)| json!({ "upstream": id, "tools": tools })).collect();
        Ok(self.show(host, &lock, &Meant { id: None, tool: None }, Some(pinned), printer))
    }

    /// Tells what is not as it was pinned, and to programs what has just been.
    fn show(
        &self,
        host: &Host,
        lock: &Lock,
        meant: &Meant<'_>,
        pinned: Option<Vec<Value>>,
        printer: &Printer,
    ) -> Exit {
        let nothing = Pinned::default();
        let mut all = Vec::new();
        let mut unknown = Vec::new();
        for member in enabled(host) {
            let Some(offer) = known(member) else {
                unknown.push(json!({ "upstream": member.id, "message": unreached(member) }));
                printer.say(format!("{}: {}", member.id, unreached(member)));
                continue;
            };
            let pinned = lock.upstreams.get(&member.id).unwrap_or(&nothing);
            let differences = lock::between(pinned, &offer, member.settings.inputs()).into_iter();
            let of_meant = differences.filter(|one| meant.means(one));
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
            let mut told = json!({ "differences": listed, "unreached": unknown });
            if let Some(pinned) = pinned {
                told["pinned"] = Value::Array(pinned);
            }
            printer.json(&told);
        } else {
            for (id, difference) in &all {
                describe(id, difference, printer);
            }
            if all.is_empty() && unknown.is_empty() {
                printer.say("everything is as it was pinned");
            }
            say_next(&all, printer);
        }
        match (unknown.is_empty(), all.is_empty()) {
            (false, _) => Exit::Unknown,
            (true, true) => Exit::Ok,
            (true, false) => Exit::Failed,
        }
    }

    /// Pins what is offered now. What cannot be taken is named, and keeps nothing else from it.
    fn accept(
        &self,
        loaded: &Loaded,
        host: &Host,
        before: Option<Lock>,
        meant: &Meant<'_>,
        file: &std::path::Path,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        let mut lock = before.unwrap_or_default();
        let (mut taken, mut left) = (0, Vec::new());
        for member in enabled(host) {
            let id = &member.id;
            let Some(offer) = known(member) else {
                left.push(format!("{id}: {}", unreached(member)));
                continue;
            };
            let mut pinned = lock.upstreams.get(id).cloned().unwrap_or_default();
            let differences = lock::between(&pinned, &offer, member.settings.inputs());
            let of_meant = differences.iter().filter(|one| meant.means(one)).count();
            if of_meant == 0 {
                continue;
            }
            let frozen = loaded.settings.upstreams[id].changes == Changes::Freeze;
            if frozen && !pinned.tools.is_empty() {
                left.push(format!(
                    "upstreams.{id}.changes is `freeze`; set it to `review` to take changes"
                ));
                continue;
            }
            pinned.accept(&offer, meant.tool);
            lock.upstreams.insert(id.clone(), pinned);
            taken += of_meant;
        }
        // What the settings do not name any more is not served, and not pinned either.
        let pinned = lock.upstreams.len();
        if meant.id.is_none() {
            lock.upstreams.retain(|id, _| loaded.settings.upstreams.contains_key(id));
        }
        let gone = pinned - lock.upstreams.len();
        if taken > 0 || gone > 0 {
            write(&lock, file)?;
        }
        for one in &left {
            printer.say(one);
        }
        if self.json {
            printer.json(&json!({ "accepted": taken, "left": left }));
        } else if taken == 0 && left.is_empty() {
            printer.say("there is nothing to take: everything is as it was pinned");
        } else {
            printer.say(format!("took {} into {}", count(taken, "change"), file.display()));
        }
        Ok(if left.is_empty() { Exit::Ok } else { Exit::Unknown })
    }
}

/// Refuses a tool that its upstream neither offers nor had pinned: of a slip of the pen nothing is to
/// be said, and least of all that it is as it was.
fn is_known(host: &Host, lock: Option<&Lock>, meant: &Meant<'_>) -> anyhow::Result<()> {
    let Some(member) = meant.id.and_then(|id| host.member(id)) else { return Ok(()) };
    if !member.settings.enabled {
        bail!("the upstream `{}` is turned off (`enabled: false`)", member.id);
    }
    let (Some(tool), Some(offer)) = (meant.tool, member.listed()) else { return Ok(()) };
    let pinned = lock.and_then(|lock| lock.upstreams.get(&member.id));
    let pinned = pinned.into_iter().flat_map(|pinned| pinned.tools.keys()).map(String::as_str);
    let offered = offer.tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    let names: Vec<&str> = offered.chain(pinned).collect();
    if names.contains(&tool) {
        return Ok(());
    }
    match contract::nearest(tool, names.iter().copied()) {
        Some(near) => {
            bail!("`{}` has no tool `{tool}`, now or pinned; did you mean `{near}`?", member.id)
        }
        None => bail!("`{}` has no tool `{tool}`, now or pinned", member.id),
    }
}

fn enabled(host: &Host) -> impl Iterator<Item = &Arc<Member>> {
    host.members().iter().filter(|member| member.settings.enabled)
}

fn reached(host: &Host) -> Vec<(&Arc<Member>, Arc<upstream::Offer>)> {
    enabled(host).filter_map(|member| Some((member, known(member)?))).collect()
}

/// What an upstream offers, if all of that is known: of what could not be read nobody can say whether it
/// is as it was.
fn known(member: &Member) -> Option<Arc<upstream::Offer>> {
    member.listed().filter(|offer| offer.unread.is_empty())
}

fn unreached(member: &Member) -> String {
    let unread = member.listed().and_then(|offer| offer.unread.values().next().cloned());
    if let Some(why) = unread {
        return format!("not all that it offers can be listed: {why}");
    }
    match member.phase() {
        upstream::Phase::Down { error } => format!("cannot be reached: {error}"),
        _ => "cannot be reached".into(),
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// What to do about differences. The name of a tool is in the words of its server, so it stands in a line for
/// a shell only if it is one to a shell as well.
fn say_next(all: &[(String, Difference)], printer: &Printer) {
    let Some((id, first)) = all.first() else { return };
    let plain = |one: char| one.is_ascii_alphanumeric() || "-_.".contains(one);
    let is_named = first.kind == "tool" && first.name.chars().all(plain);
    let of_one = all.iter().all(|(other, _)| other == id);
    let what = match all {
        [_] if is_named => format!(" {id}.{}", first.name),
        _ if of_one => format!(" {id}"),
        _ => String::new(),
    };
    printer.say(format!("hint: if that is right, take it with `toolgate lock accept{what}`"));
}

/// Writes the lock. Where that fails, the file that is named is the lock.
fn write(lock: &Lock, file: &std::path::Path) -> anyhow::Result<()> {
    lock.write(file).map_err(|error| match error {
        LockError::Unwritable { path, source } => {
            LockError::Unwritable { path, source: files::without_path(source) }.into()
        }
        error => error.into(),
    })
}

/// A difference in words.
fn describe(id: &str, difference: &Difference, printer: &Printer) {
    let name = match difference.name.as_str() {
        "" => id.to_owned(),
        name => format!("{id}.{name}"),
    };
    let class = match (difference.what, difference.class) {
        (What::Changed, ChangeClass::Wording) => " (wording: models read it)".to_owned(),
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
