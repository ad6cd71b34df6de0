//! The data that the tools of the fixture share, and the listings that they can change.

use std::sync::{Arc, OnceLock, Weak};

use anyhow::Context;
use contract::Limits;
use gate::{Catalogue, Gate, Tool};
use tokio::sync::watch;

use crate::{
    data::{ChangedListing, Fixture},
    library,
    script::Script,
};

/// The data that the tools share.
pub struct SharedFixture {
    /// The data.
    pub fixture: Fixture,
    /// Known once the gate is made. Its tools hold this, so the gate is not kept alive here.
    gate: OnceLock<Weak<Gate>>,
    /// Counts how often the prompts have changed.
    prompts: watch::Sender<u64>,
}

impl SharedFixture {
    /// Shares this data.
    pub fn new(fixture: Fixture) -> Arc<Self> {
        Arc::new(Self { fixture, gate: OnceLock::new(), prompts: watch::Sender::new(0) })
    }

    /// The tools of the data.
    pub fn catalogue(self: &Arc<Self>) -> anyhow::Result<Catalogue> {
        let tools = self.fixture.tools.iter().map(|tool| {
            let contract = self.fixture.contract(tool)?;
            let name = contract.name.clone();
            let script = Arc::new(Script::new(tool.steps.clone(), self.clone()));
            Tool::new(contract, script, &Limits::default())
                .with_context(|| format!("the contract of `{name}`"))
        });
        let catalogue = Catalogue::new(tools.collect::<anyhow::Result<Vec<_>>>()?);
        Ok(catalogue.with_unlisted(library::tools(self)?))
    }

    /// From now on a change of the tools is one of this gate.
    pub fn set(&self, gate: &Arc<Gate>) {
        // A second gate would have data of its own.
        let _ = self.gate.set(Arc::downgrade(gate));
    }

    /// Lets the server believe that a listing has changed. What is listed stays the same, so
    /// that whatever is tested next finds it.
    pub fn change(self: &Arc<Self>, listing: ChangedListing) -> anyhow::Result<()> {
        match listing {
            ChangedListing::Tools => {
                let gate = self.gate.get().and_then(Weak::upgrade).context("there is no gate")?;
                gate.replace_catalogue(self.catalogue()?);
                // It lists the same: the suite wants to be told all the same.
                gate.listing_changed();
            }
            ChangedListing::Prompts => self.prompts.send_modify(|count| *count += 1),
        }
        Ok(())
    }

    /// Tells when the prompts have changed.
    pub fn prompt_changes(&self) -> watch::Receiver<u64> {
        self.prompts.subscribe()
    }
}
