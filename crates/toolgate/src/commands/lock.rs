//! `toolgate lock`: pins the tools of upstreams, shows what changed, and accepts it.

use std::sync::Arc;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use upstream::{
    Host, Upstream,
    lock::{self, ContractLock, DifferenceKind, LockDifference, LockError, PinnedListings},
    settings::ChangePolicy,
};
use workbench::compare::{ChangeClass, ContractChange};

use crate::{
    Exit, commands, files,
    printer::{Printer, counted, progress},
    settings::{Flags, LoadedSettings},
    wiring::{
        self,
        upstreams::{self, UpstreamFilter},
    },
};

/// Pin the tools of upstreams, show changes and accept them
///
/// Without a command: pins every upstream that is not pinned yet, and leaves the others as they
/// are. Exit code 1 if anything differs from the lock.
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
    /// Show what differs from the lock; exit code 1 if anything does
    Diff {
        /// An upstream, or upstream.tool [default: everything]
        what: Option<String>,
    },
    /// Accept changes: pin what the upstreams list now
    Accept {
        /// An upstream, or upstream.tool [default: everything]
        what: Option<String>,
    },
}

/// The part of the lock that a command is for.
struct LockSelector<'a> {
    id: Option<&'a str>,
    tool: Option<&'a str>,
}

impl<'a> LockSelector<'a> {
    /// Ids have no dot, tools may have one.
    fn read(text: Option<&'a String>) -> Self {
        match text.map(|text| {
            text.split_once('.').map_or((text.as_str(), None), |(id, tool)| (id, Some(tool)))
        }) {
            None => Self { id: None, tool: None },
            Some((id, tool)) => Self { id: Some(id), tool },
        }
    }

    fn selects(&self, difference: &LockDifference) -> bool {
        self.tool.is_none_or(|tool| difference.kind == "tool" && difference.name == tool)
    }
}

impl LockCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        let (loaded, contracts) = commands::ready(flags, printer)?;
        let what = match &self.command {
            Some(Command::Diff { what } | Command::Accept { what }) => what.as_ref(),
            None => None,
        };
        let selector = LockSelector::read(what);
        commands::upstream::is_known(&loaded, selector.id)?;
        let fixed = wiring::tools(contracts, &loaded)?;
        let config = upstreams::eager_host_config(
            &loaded,
            selector.id.map_or(UpstreamFilter::All, UpstreamFilter::One),
            &fixed,
        )?;
        let file = loaded.path(&loaded.settings.lock);
        let before = config.rules.lock.clone();
        commands::runtime()?.block_on(upstreams::with_host(config, async |host| {
            is_known(host, before.as_ref(), &selector)?;
            match &self.command {
                None => self.pin(host, before, &file, printer),
                Some(Command::Diff { .. }) => {
                    Ok(self.show(host, &before.unwrap_or_default(), &selector, None, printer))
                }
                Some(Command::Accept { .. }) => {
                    self.accept(&loaded, host, before, &selector, &file, printer)
                }
            }
        }))
    }

    /// Pins the upstreams that are not pinned yet.
    fn pin(
        &self,
        host: &Host,
        before: Option<ContractLock>,
        file: &std::path::Path,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        let mut lock = before.unwrap_or_default();
        let mut fresh = Vec::new();
        for (upstream, listings) in reached(host) {
            if !lock.upstreams.contains_key(&upstream.id) {
                lock.upstreams.insert(upstream.id.clone(), PinnedListings::of(&listings));
                fresh.push((upstream.id.clone(), listings.tools.len()));
            }
        }
        if !fresh.is_empty() {
            write(&lock, file)?;
        }
        for (id, tools) in &fresh {
            printer.say(format!("pinned {id} ({}) in {}", counted(*tools, "tool"), file.display()));
        }
        let pinned: Vec<_> =
            fresh.iter().map(|(id, tools)| json!({ "upstream": id, "tools": tools })).collect();
        Ok(self.show(host, &lock, &LockSelector { id: None, tool: None }, Some(pinned), printer))
    }

    /// Shows the differences; as JSON also the upstreams that were just pinned.
    fn show(
        &self,
        host: &Host,
        lock: &ContractLock,
        selector: &LockSelector<'_>,
        pinned: Option<Vec<Value>>,
        printer: &Printer,
    ) -> Exit {
        let nothing = PinnedListings::default();
        let mut all = Vec::new();
        let mut unknown = Vec::new();
        for upstream in enabled(host) {
            let Some(listings) = complete_listings(&upstream) else {
                unknown
                    .push(json!({ "upstream": upstream.id, "message": unread_reason(&upstream) }));
                printer.say(format!("{}: {}", upstream.id, unread_reason(&upstream)));
                continue;
            };
            let pinned = lock.upstreams.get(&upstream.id).unwrap_or(&nothing);
            let differences =
                lock::differences(pinned, &listings, upstream.settings.inputs()).into_iter();
            let of_meant = differences.filter(|one| selector.selects(one));
            all.extend(of_meant.map(|one| (upstream.id.clone(), one)));
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
                printer.say("nothing differs from the lock");
            }
            hint_accept(&all, printer);
        }
        match (unknown.is_empty(), all.is_empty()) {
            (false, _) => Exit::Unknown,
            (true, true) => Exit::Ok,
            (true, false) => Exit::Failed,
        }
    }

    /// Pins the current listings. An upstream that cannot be read is named, and does not stop the others.
    fn accept(
        &self,
        loaded: &LoadedSettings,
        host: &Host,
        before: Option<ContractLock>,
        selector: &LockSelector<'_>,
        file: &std::path::Path,
        printer: &Printer,
    ) -> anyhow::Result<Exit> {
        let mut lock = before.unwrap_or_default();
        let (mut taken, mut left) = (0, Vec::new());
        for upstream in enabled(host) {
            let id = &upstream.id;
            let Some(listings) = complete_listings(&upstream) else {
                left.push(format!("{id}: {}", unread_reason(&upstream)));
                continue;
            };
            let mut pinned = lock.upstreams.get(id).cloned().unwrap_or_default();
            let differences = lock::differences(&pinned, &listings, upstream.settings.inputs());
            let of_meant = differences.iter().filter(|one| selector.selects(one)).count();
            if of_meant == 0 {
                continue;
            }
            let frozen = loaded.settings.upstreams[id].changes == ChangePolicy::Freeze;
            if frozen && !pinned.tools.is_empty() {
                left.push(format!(
                    "{id}: not accepted: `upstreams.{id}.changes` is `freeze`; set it to `review` first"
                ));
                continue;
            }
            pinned.accept(&listings, selector.tool);
            lock.upstreams.insert(id.clone(), pinned);
            taken += of_meant;
        }
        // Upstreams that are not in the settings any more leave the lock.
        let pinned = lock.upstreams.len();
        if selector.id.is_none() {
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
        } else if taken + gone == 0 && left.is_empty() {
            printer.say("nothing to accept: nothing differs from the lock");
        } else {
            if taken > 0 {
                printer.say(format!("accepted {} in {}", counted(taken, "change"), file.display()));
            }
            if gone > 0 {
                printer.say(format!(
                    "removed {} that the settings no longer have",
                    counted(gone, "upstream")
                ));
            }
        }
        Ok(if left.is_empty() { Exit::Ok } else { Exit::Unknown })
    }
}

/// Refuses a tool that its upstream neither lists nor has pinned: a misspelt name must not look unchanged.
fn is_known(
    host: &Host,
    lock: Option<&ContractLock>,
    selector: &LockSelector<'_>,
) -> anyhow::Result<()> {
    let Some(upstream) = selector.id.and_then(|id| host.upstream(id)) else { return Ok(()) };
    if !upstream.settings.enabled {
        bail!("the upstream `{}` is disabled (`enabled: false`)", upstream.id);
    }
    let (Some(tool), Some(listings)) = (selector.tool, upstream.own_listings()) else {
        return Ok(());
    };
    let pinned = lock.and_then(|lock| lock.upstreams.get(&upstream.id));
    let pinned = pinned.into_iter().flat_map(|pinned| pinned.tools.keys()).map(String::as_str);
    let offered = listings.tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    let names: Vec<&str> = offered.chain(pinned).collect();
    if names.contains(&tool) {
        return Ok(());
    }
    let near = contract::did_you_mean(tool, names.iter().copied());
    bail!("the upstream `{}` has no tool `{tool}`{near}", upstream.id)
}

fn enabled(host: &Host) -> Vec<Arc<Upstream>> {
    let upstreams = host.upstreams();
    upstreams.iter().filter(|upstream| upstream.settings.enabled).cloned().collect()
}

fn reached(host: &Host) -> Vec<(Arc<Upstream>, Arc<upstream::ServerListings>)> {
    let enabled = enabled(host).into_iter();
    enabled.filter_map(|one| complete_listings(&one).map(|listings| (one, listings))).collect()
}

/// The listings of an upstream, if all of them could be read.
fn complete_listings(upstream: &Upstream) -> Option<Arc<upstream::ServerListings>> {
    upstream.own_listings().filter(|listings| listings.unread.is_empty())
}

fn unread_reason(upstream: &Upstream) -> String {
    let unread =
        upstream.own_listings().and_then(|listings| listings.unread.values().next().cloned());
    if let Some(why) = unread {
        return format!("cannot read all of its listings: {why}");
    }
    match upstream.state() {
        upstream::UpstreamState::Down { error, .. } => format!("cannot be reached: {error}"),
        _ => "cannot be reached".into(),
    }
}

/// Prints the next step. The name of a tool comes from its server, so it is part of a shell command only if it needs
/// no quoting.
fn hint_accept(all: &[(String, LockDifference)], printer: &Printer) {
    let Some((id, first)) = all.first() else { return };
    let plain = |one: char| one.is_ascii_alphanumeric() || "-_.".contains(one);
    let is_named = first.kind == "tool" && first.name.chars().all(plain);
    let of_one = all.iter().all(|(other, _)| other == id);
    let what = match all {
        [_] if is_named => format!(" {id}.{}", first.name),
        _ if of_one => format!(" {id}"),
        _ => String::new(),
    };
    printer.say(format!(
        "hint: if you trust these changes, accept them with `toolgate lock accept{what}`"
    ));
}

/// Writes the lock. An error names the lock and no temporary file.
fn write(lock: &ContractLock, file: &std::path::Path) -> anyhow::Result<()> {
    lock.write(file).map_err(|error| match error {
        LockError::Unwritable { path, source } => {
            LockError::Unwritable { path, source: files::without_path(source) }.into()
        }
        error => error.into(),
    })
}

/// Prints a difference.
fn describe(id: &str, difference: &LockDifference, printer: &Printer) {
    let name = match difference.name.as_str() {
        "" => id.to_owned(),
        name => format!("{id}.{name}"),
    };
    let class = match (difference.what, difference.class) {
        (DifferenceKind::Changed, ChangeClass::Wording) => {
            " (wording: models read this text)".to_owned()
        }
        (DifferenceKind::Changed, class) => format!(" ({})", class.word()),
        _ => String::new(),
    };
    printer.data(format!("{name}: {} {}{class}", difference.kind, difference.what.word()));
    for change in &difference.changes {
        let ContractChange { part, class, pointer, text, .. } = change;
        let blank = if pointer.is_empty() { "" } else { " " };
        printer.data(format!("  {:9} {part}{blank}{pointer}: {text}", class.word()));
    }
}
