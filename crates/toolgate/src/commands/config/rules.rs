//! `toolgate config rules`: the rules by which questions are refused.

use ask::policy::{default_rules, rules_yaml};
use serde_json::json;

use crate::{Exit, printer::Printer, settings::LoadedSettings};

/// Prints the rules that hold with these settings, as YAML or JSON.
pub fn show(loaded: &LoadedSettings, json: bool, printer: &Printer) -> Exit {
    let policy = &loaded.settings.ask.policy;
    if !json {
        printer.data(rules_yaml(policy).trim_end());
        return Exit::Ok;
    }
    let kept = default_rules().iter().filter(|rule| !policy.without.contains(&rule.name));
    let defaults = kept.map(|rule| {
        json!({ "name": rule.name, "about": rule.about, "pattern": rule.pattern, "message": rule.message })
    });
    let own = policy.block.iter().map(|rule| json!(rule));
    printer.json(&defaults.chain(own).collect::<Vec<_>>());
    Exit::Ok
}

/// The reference page of the rules that come with Toolgate.
pub fn page() -> String {
    let mut page = String::from(
        "# The rules of `ask`\n\n\
         Questions that `toolgate ask` and `POST /v1/ask` refuse before anything else happens. The question is normalized first: NFKC, \
         without invisible characters, in lower case. `ask.policy.without` leaves a rule out by its name, `ask.policy.block` adds your own. They are a \
         convenience and not a security boundary: the checks of the plan and of the call are.\n\n\
         | rule | refuses | for example | and not |\n|---|---|---|---|\n",
    );
    for rule in default_rules() {
        page.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            rule.name, rule.about, rule.stops, rule.passes
        ));
    }
    page
}
