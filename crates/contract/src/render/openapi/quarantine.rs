//! The routes of the quarantine.

use super::{
    jobs::page,
    operation::{Operation, Paths, json_response, schema, with_link},
};

pub(super) fn paths(paths: &mut Paths) {
    let operation = |id: &str, summary: &str| Operation::new(id, "Quarantine", summary);
    let entries = page("entries", &schema("QuarantineEntry"));
    let entries = json_response("A page of entries, without their payloads.", entries);
    paths.add(
        "/v1/quarantine",
        "get",
        operation("list_quarantine", "The results that broke their contract, page by page")
            .parameter("Limit")
            .parameter("Cursor")
            .response(200, with_link(entries, "get_quarantine_entry", "/entries/0/id"))
            .errors(&[400, 503]),
    );
    paths.add(
        "/v1/quarantine/{id}",
        "get",
        operation("get_quarantine_entry", "One result that broke its contract")
            .description(
                "The payload is what the tool answered. It was never checked: distrust it.",
            )
            .parameter("QuarantineId")
            .response(200, json_response("The entry.", schema("QuarantinedResult")))
            .errors(&[404, 503]),
    );
}
