//! Tools as an MCP server lists them, now or in a file.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Write,
};

use contract::{Diagnostic, Document, Severity};
use serde_json::Value;
use upstream::{
    ServerListings,
    admission::{self, Admission, AdmissionRules, Rejection, RejectionReason},
    settings::{Overlay, UpstreamSettings},
};
use workbench::{compare::PartialContract, suspicious::SuspiciousText};

use super::{SourceTool, ToolSource, draft};
use crate::{commands, named_servers::NamedServer, settings::LoadedSettings, wiring::overlays};

/// The toolset of tools whose server has no id.
const UNNAMED: &str = "server";

/// The settings and overlays for the tools of a listing.
pub(super) struct ListingTerms<'a> {
    pub id: &'a str,
    pub settings: &'a UpstreamSettings,
    pub overlays: &'a BTreeMap<String, Overlay>,
    /// True if the settings have this upstream, so that a hint can name them.
    pub configured: bool,
}

/// The tools that a server lists now.
pub(super) fn of_server(server: &NamedServer) -> anyhow::Result<ToolSource> {
    let listings = commands::block_on(server.listings())?;
    let mut set = ToolSource::new(&server.title, true);
    written_down(&mut set, &listings);
    Ok(set)
}

/// The tools that an upstream lists now, under the server's own names, with their overlays.
pub(super) fn of_upstream(loaded: &LoadedSettings, id: &str) -> anyhow::Result<ToolSource> {
    let server = NamedServer::of_upstream(loaded, id)?;
    let overlays = overlays::of_upstream(loaded, id)?;
    let listings = commands::block_on(server.listings())?;
    let settings = &loaded.settings.upstreams[id];
    let mut set = ToolSource::new(id, true);
    add(&mut set, &ListingTerms { id, settings, overlays: &overlays, configured: true }, &listings);
    Ok(set)
}

/// A listing whose server the settings do not know.
pub(super) fn written_down(set: &mut ToolSource, listings: &ServerListings) {
    let (settings, overlays) = (UpstreamSettings::default(), BTreeMap::new());
    let terms =
        ListingTerms { id: UNNAMED, settings: &settings, overlays: &overlays, configured: false };
    add(set, &terms, listings);
}

/// Adds the tools of a listing to a set, with errors and warnings.
pub(super) fn add(set: &mut ToolSource, terms: &ListingTerms<'_>, listings: &ServerListings) {
    let admission = admit(terms, listings);
    let title = set.title.clone();
    set.findings.extend(diagnostics(&title, terms, listings, &admission));
    for tool in &listings.tools {
        let mut promise = PartialContract::of_tool(tool);
        if promise.name.is_empty() {
            continue;
        }
        if let Some(overlay) = terms.overlays.get(&promise.name) {
            promise.effects = overlay.effects;
            promise.approval = overlay.approval;
        }
        let admitted = admission.admitted.iter().find(|one| one.own_name == promise.name);
        let contract = match admitted {
            Some(admitted) => {
                let mut contract = admitted.contract.clone();
                contract.name.clone_from(&promise.name);
                contract
            }
            None => draft::of(&promise, terms.id, listings.version()),
        };
        // An overlay may have the output schema that the server does not declare.
        let declares = promise.output_schema.as_ref().is_some_and(Value::is_object);
        if admitted.is_some() && !declares {
            promise.output_schema = Some(contract.output_schema.clone());
        }
        let listed = Some(tool.clone());
        let inputs = terms.configured.then(|| terms.settings.inputs());
        set.tools.push(SourceTool { promise, contract, listed, own_name: None, inputs });
    }
}

/// Admits tools without regard to the lock and the allowlist.
pub(super) fn admit(terms: &ListingTerms<'_>, listings: &ServerListings) -> Admission {
    let taken = HashSet::new();
    let rules = AdmissionRules {
        id: terms.id,
        settings: terms.settings,
        overlays: terms.overlays,
        allowlist: None,
        pinned: None,
        taken: &taken,
    };
    admission::admit(&rules, listings.version(), &listings.tools)
}

/// Errors and warnings about the tools of a listing, each shown in its place.
pub(super) fn diagnostics(
    title: &str,
    terms: &ListingTerms<'_>,
    listings: &ServerListings,
    admission: &Admission,
) -> Vec<Diagnostic> {
    let shown = |name: &str| {
        let tool =
            listings.tools.iter().find(|tool| tool.get("name").is_some_and(|own| own == name));
        PrintableTool::new(&format!("{title}.{name}"), tool.unwrap_or(&Value::Null))
    };
    let mut found = Vec::new();
    for rejected in &admission.rejected {
        let one = shown(&rejected.tool).about(Severity::Error, place(rejected), &rejected.message);
        found.push(if terms.configured { one.hint(&*rejected.fix) } else { one });
    }
    for admitted in admission.admitted.iter().filter(|one| !one.findings.is_empty()) {
        let shown = shown(&admitted.own_name);
        for SuspiciousText { pointer, what, .. } in &admitted.findings {
            found.push(shown.about(Severity::Warning, pointer, what));
        }
    }
    found
}

/// The part of a tool that is the reason.
fn place(rejected: &Rejection) -> &'static str {
    match rejected.reason {
        RejectionReason::BadInputSchema => "/inputSchema",
        RejectionReason::BadOutputSchema => "/outputSchema",
        RejectionReason::SuspiciousText => "/description",
        _ => "/name",
    }
}

/// A tool as text that is safe to print.
struct PrintableTool {
    title: String,
    text: std::sync::Arc<str>,
    document: Option<Document>,
}

impl PrintableTool {
    fn new(title: &str, tool: &Value) -> Self {
        let text = visible(&serde_json::to_string_pretty(tool).unwrap_or_default());
        let title = gate::visible_text::visible_line(title);
        Self { document: Document::parse(&title, &text).ok(), text: text.into(), title }
    }

    fn about(&self, severity: Severity, pointer: &str, message: &str) -> Diagnostic {
        let message = gate::visible_text::visible_line(message);
        match (&self.document, severity) {
            (Some(document), Severity::Error) => document.error(pointer, message),
            (Some(document), Severity::Warning) => document.warning(pointer, message),
            (None, severity) => Diagnostic::new(severity, &self.title, &self.text, 0..0, message),
        }
    }
}

/// JSON in which everything that could deceive a reader is written out.
fn visible(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for one in json.chars() {
        match u32::from(one) {
            _ if one.is_ascii() || one.is_alphanumeric() => text.push(one),
            code @ 0..=0xffff => _ = write!(text, "\\u{code:04x}"),
            code => _ = write!(text, "\\U{code:08x}"),
        }
    }
    text
}
