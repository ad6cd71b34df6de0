//! `toolgate config rules`: which questions are refused.

use ask::policy::DEFAULT_RULES;
use serde_json::json;

use crate::{Exit, printer::Printer, settings::Loaded};

/// The rules that hold with these settings.
pub fn show(loaded: &Loaded, json: bool, printer: &Printer) -> Exit {
    let policy = &loaded.settings.ask.policy;
    let defaults =
        DEFAULT_RULES.iter().filter(|rule| !policy.without.iter().any(|name| name == rule.name));
    if json {
        let defaults = defaults.map(|rule| {
            json!({ "name": rule.name, "about": rule.about, "pattern": rule.pattern(), "message": rule.message })
        });
        let own = policy.block.iter().map(|rule| json!(rule));
        printer.json(&defaults.chain(own).collect::<Vec<_>>());
        return Exit::Ok;
    }
    let defaults = defaults.map(|rule| vec![rule.name.to_owned(), rule.about.to_owned()]);
    let own = policy
        .block
        .iter()
        .map(|rule| vec![rule.name.clone(), format!("questions that match `{}`", rule.pattern)]);
    let rows: Vec<_> = defaults.chain(own).collect();
    printer.table(&["RULE", "REFUSES"], &rows);
    Exit::Ok
}

/// The rules that come with Toolgate, as a page.
pub fn page() -> String {
    let mut page = String::from(
        "# The rules of `ask`\n\n\
         Questions that `toolgate ask` and `POST /v1/ask` refuse before anything else happens. The question is brought into one form first: NFKC, \
         without what cannot be seen, in small letters. `ask.policy.without` leaves a rule out by its name, `ask.policy.block` adds your own. They are a \
         courtesy and no boundary: what keeps a question from doing harm are the gates behind them.\n\n\
         | rule | refuses | for example | and not |\n|---|---|---|---|\n",
    );
    for rule in DEFAULT_RULES {
        page.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            rule.name, rule.about, rule.stops, rule.passes
        ));
    }
    page
}
