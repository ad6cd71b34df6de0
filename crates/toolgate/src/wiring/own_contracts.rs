//! The contracts of the user's own. One with an error is left out, and so is each that cannot be told from another.

use std::{path::Path, sync::Arc};

use contract::{Contract, ContractStatus, Diagnostic, Document, Severity, lint, read};
use guard::process::Spawner;
use tools::{BuiltIn, command::CommandTool};
use upstream::{names, settings::Overlay};

use super::{BoundTool, absent_tools::LeftOutContract, sandboxes};
use crate::settings::{LoadedSettings, operator_paths::ProgramOwner};

/// The user's own contracts, as they were read.
#[derive(Default)]
pub(super) struct OwnContracts {
    /// Those that can be served.
    pub bound: Vec<BoundTool>,
    /// Those that are sound, planned ones too.
    pub documents: Vec<(Contract, Document)>,
    pub left_out: Vec<LeftOutContract>,
    /// Warnings about the sound ones.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the files that the settings name.
pub(super) fn read(loaded: &LoadedSettings) -> anyhow::Result<OwnContracts> {
    let mut own = OwnContracts::default();
    let spawner = Spawner::of_this_program();
    for file in super::user_files(loaded)? {
        match OwnContract::read(&file, loaded, &spawner) {
            Ok(one) => {
                own.warnings.extend(one.warnings);
                let contract = one.contract.clone();
                own.bound.extend(
                    one.command.map(|command| BoundTool { contract, provider: Arc::new(command) }),
                );
                own.documents.push((one.contract, one.document));
            }
            Err(left_out) => own.left_out.push(*left_out),
        }
    }
    Ok(own)
}

/// A contract without an error.
struct OwnContract {
    contract: Contract,
    document: Document,
    /// Its command; a planned one may have none.
    command: Option<CommandTool>,
    warnings: Vec<Diagnostic>,
}

impl OwnContract {
    fn read(
        file: &Path,
        loaded: &LoadedSettings,
        spawner: &Spawner,
    ) -> Result<Self, Box<LeftOutContract>> {
        let name = file.display().to_string();
        let text = match loaded.sources.contract_text(file) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("the contract cannot be read: {error:#}");
                let found = Diagnostic::new(Severity::Error, &name, &"".into(), 0..0, message);
                return Err(Box::new(LeftOutContract::of_text(file, "", vec![found])));
            }
        };
        let (read, mut warnings) = read::contract(&name, &text);
        let Some((contract, document)) = read else {
            return Err(Box::new(LeftOutContract::of_text(file, &text, warnings)));
        };
        let folder = file.parent().unwrap_or(Path::new("."));
        let limits = &loaded.settings.process_limits;
        let place =
            |path: &str| folder.join(path.replace("{contract_dir}", &folder.to_string_lossy()));
        let owner = ProgramOwner::Tool(contract.name.clone());
        let sandbox = sandboxes::of(loaded, &owner, &contract.sandbox, place, false);
        let command = CommandTool::new(&contract, folder, limits, sandbox, spawner.clone());
        if command.is_none() && contract.status != ContractStatus::Planned {
            let found = document
                .error("/name", "no command runs this tool")
                .hint("add `run: [program, argument]` or `status: planned`");
            warnings.push(found);
            return Err(Box::new(LeftOutContract::of_contract(&name, &contract, warnings)));
        }
        let trouble = command.as_ref().and_then(CommandTool::trouble);
        warnings.extend(trouble.map(|words| document.warning("/run/0", words)));
        Ok(Self { contract, document, command, warnings })
    }
}

impl OwnContracts {
    /// Leaves out the contracts that cannot be told from others: nobody could say which of them is meant.
    pub(super) fn leave_out_conflicts(
        &mut self,
        built_in: &[(Contract, BuiltIn)],
        loaded: &LoadedSettings,
    ) {
        let mut mistakes = self.conflicts(built_in);
        mistakes.extend(self.replacements(built_in, loaded));
        for (contract, document) in &self.documents {
            let others = self.left_out.iter().filter(|other| other.is_named);
            if let Some(other) = others.into_iter().find(|other| other.name == contract.name) {
                let message = format!("the name `{}` is already taken", contract.name);
                let hint = format!("the other contract is `{}`", other.file);
                mistakes.push(document.error("/name", message).hint(hint));
            }
        }
        self.warnings.extend(mistakes.extract_if(.., |one| one.severity == Severity::Warning));
        let is_mistaken = |document: &Document| {
            let own = mistakes.iter().filter(|one| one.file == document.name());
            own.cloned().collect::<Vec<_>>()
        };
        let (mut kept, mut names) = (Vec::new(), Vec::new());
        for (contract, document) in std::mem::take(&mut self.documents) {
            let found = is_mistaken(&document);
            if found.is_empty() {
                kept.push((contract, document));
                continue;
            }
            names.push(contract.name.clone());
            let left_out = LeftOutContract::of_contract(document.name(), &contract, found);
            self.left_out.push(left_out);
        }
        self.documents = kept;
        self.bound.retain(|one| !names.contains(&one.contract.name));
    }

    /// Names that more than one of them has, or a built-in tool.
    fn conflicts(&self, built_in: &[(Contract, BuiltIn)]) -> Vec<Diagnostic> {
        let shipped = built_in.iter().filter_map(|(contract, tool)| {
            let name = format!("built-in contract {}", contract.name);
            Some((contract, Document::parse(&name, tool.contract).ok()?))
        });
        let shipped: Vec<(&Contract, Document)> = shipped.collect();
        let own = self.documents.iter().map(|(contract, document)| (contract, document));
        let together: Vec<_> =
            shipped.iter().map(|(contract, document)| (*contract, document)).chain(own).collect();
        let mut found = lint::lint_together(&together);
        // Each is told at the contract of the user's own too.
        found.retain(|one| shipped.iter().all(|(_, document)| document.name() != one.file));
        found
    }

    /// Tools that are replaced by one that there is not.
    fn replacements(
        &self,
        built_in: &[(Contract, BuiltIn)],
        loaded: &LoadedSettings,
    ) -> Vec<Diagnostic> {
        let upstreams = &loaded.settings.upstreams;
        let documents = self.documents.iter().filter(|(contract, _)| {
            // The tools of upstreams are not known yet.
            let replacement = contract.replaced_by.as_deref().unwrap_or_default();
            !upstreams.keys().any(|id| names::is_below(id, replacement))
        });
        let documents: Vec<_> =
            documents.map(|(contract, document)| (contract, document)).collect();
        let own = self.documents.iter().map(|(contract, _)| contract.name.as_str());
        let left_out = self.left_out.iter().map(|one| one.name.as_str());
        let shipped = built_in.iter().map(|(contract, _)| contract.name.as_str());
        let chosen = upstreams.values().flat_map(|one| one.tools.values());
        let chosen = chosen.filter_map(Overlay::chosen_name);
        let known = own.chain(left_out).chain(shipped).chain(chosen);
        let known: Vec<&str> = known.collect();
        lint::lint_replacements(&documents, &known, Severity::Error)
    }
}
