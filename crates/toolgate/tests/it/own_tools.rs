//! Tools of the user's own: commands with contracts, sound and broken.

mod baseline;
mod broken;
mod deprecated;
mod enabled;
mod templates;
mod text;
mod wiring;

use testkit::World;

use crate::BINARY;

/// A world whose settings name the folder of contracts.
fn world(settings: &str) -> World {
    World::new(BINARY, &format!("contracts: [ ./contracts ]\n{settings}"))
}

/// Writes a contract of this name and toolset; `more` are further keys.
fn contract(world: &World, name: &str, toolset: &str, more: &str) {
    world.write(&format!("contracts/{name}.yaml"), &text(name, toolset, more));
}

fn text(name: &str, toolset: &str, more: &str) -> String {
    let run = if more.contains("run:") { "" } else { "run: [\"true\"]\n" };
    let stability = if more.contains("stability:") { "" } else { "stability: stable\n" };
    let input = if more.contains("input_schema:") {
        ""
    } else {
        "input_schema: { type: object, description: Nothing., properties: {}, required: [], additionalProperties: false }\n"
    };
    let examples = if more.contains("examples:") {
        ""
    } else {
        "examples: [ { title: A call, input: {} } ]\n"
    };
    format!(
        "name: {name}\ndescription: A tool of a test.\nversion: \"1\"\ntoolset: {toolset}\n\
         effects: read\noutput: text\n{run}{stability}{input}{more}{examples}"
    )
}
