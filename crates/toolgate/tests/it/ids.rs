//! Ids on the command line: so much of one as only one has.

use testkit::World;

use crate::{BINARY, command};

/// A world with the tool `marks`, which needs an approval, and `wrong`, which answers outside its contract.
fn world() -> World {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    command(&world, "marks", "echo '{\"answer\":1}'", "approval: required");
    command(&world, "wrong", "echo '{\"answers\":1}'", "");
    world
}

fn waiting(world: &World) -> Vec<String> {
    let listed = world.cli("approvals --json").exits(0).json();
    testkit::texts(&listed["approvals"], "id")
}

/// The last characters of an id.
fn end(id: &str, characters: usize) -> &str {
    &id[id.len() - characters..]
}

#[test]
fn the_end_of_an_approval_is_enough() {
    let world = world();
    for value in 1..=3 {
        world.cli(&format!("call marks value:={value}")).exits(1).stderr_has("approval_required");
    }
    let ids = waiting(&world);
    assert_eq!(ids.len(), 3);
    let [first, second, third] = &ids[..] else { panic!("{ids:?}") };
    let small = end(first, 8).to_lowercase();
    let shown = world.cli(&["approvals", "show", &small, "--json"]).exits(0).json();
    assert_eq!(shown["id"], **first);
    let refused = world.cli(&["approvals", "refuse", &format!("apr_{}", end(second, 10))]).exits(0);
    refused.stdout_has(format!("refused: {second}"));
    world.cli(&["approvals", "approve", end(third, 9)]).exits(0).stdout_has(third);
    world.cli(&["call", "marks", "value:=1", "--approval", end(third, 9)]).exits(0);
    // The beginning of all is the time.
    let told = world.cli(&["approvals", "show", &first[4..10]]).exits(2);
    told.stderr_has(format!("`{}` fits several: ", &first[4..10]))
        .stderr_has_all([first, second, third]);
    world.cli("approvals show abc").exits(2).stderr_has("`abc` is too short: type 4 or more");
    world.cli("approvals show zzzzzzzz").exits(1).stderr_has("there is no approval zzzzzzzz");
    world.cli("approvals show q_zzzz").exits(2).stderr_has("is not the id of an approval");
    let call = ["call", "marks", "value:=1", "--approval", "zzzzzzzz"];
    world.cli(&call).exits(2).stderr_has("there is no approval zzzzzzzz");
}

#[tokio::test]
async fn the_end_of_a_quarantined_result_is_enough_and_rest_takes_whole_ids() {
    let world = world();
    let ids: Vec<String> = (1..=2)
        .map(|value| {
            crate::quarantine::stopped_on_cli(&world, &format!("call wrong value:={value}"))
        })
        .collect();
    let world = world.started().await;
    for id in &ids {
        let shown = world.cli(&["quarantine", "show", end(id, 8), "--json"]).exits(0).json();
        assert_eq!(shown["id"], **id);
        assert_eq!(world.get(&format!("/v1/quarantine/{}", end(id, 8))).await.status, 404);
        assert_eq!(world.get(&format!("/v1/quarantine/{id}")).await.status, 200);
    }
    let older = world.cli(&["quarantine", "list", "--json", "--cursor", end(&ids[1], 8)]).json();
    assert_eq!(testkit::texts(&older["entries"], "id"), [&*ids[0]]);
    world.cli(&["quarantine", "release", end(&ids[0], 7)]).exits(0).stdout_has(&ids[0]);
    world.cli("quarantine release abc").exits(2).stderr_has("too short");
    world.cli("quarantine adopt zzzzzzzz").exits(1).stderr_has("there is no quarantined result");
}
