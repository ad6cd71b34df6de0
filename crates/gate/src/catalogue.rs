//! The tools that are served: what is listed is exactly what can be called by name. Beside them are unlisted tools,
//! which a door calls for other methods of its protocol.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, OnceLock},
};

use contract::{
    Contract, ContractStatus, Limits, ParameterHeader, Schema, SchemaError, codes::StandardCode,
};
use serde_json::{Value, json, value::RawValue};

use crate::{EnforcementMode, Failure, Provider, enforcement::CopyLimit, metrics::ToolMetrics};

/// A tool that can be called.
pub struct Tool {
    pub contract: Arc<Contract>,
    /// Its arguments.
    pub input: Arc<Schema>,
    /// Its results.
    pub output: Arc<Schema>,
    /// Its limits unless a request sets others.
    pub limits: Limits,
    /// Arguments that a client repeats in the head of its request.
    pub parameter_headers: Vec<ParameterHeader>,
    /// Its descriptor, rendered when it is first asked for.
    pub(crate) descriptor: OnceLock<Box<RawValue>>,
    /// The mode in which its contract is enforced.
    pub mode: EnforcementMode,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) metrics: Arc<ToolMetrics>,
    pub(crate) copies: CopyLimit,
}

impl Tool {
    /// Makes a contract callable, or says which of its schemas cannot be enforced.
    pub fn new(
        contract: Contract,
        provider: Arc<dyn Provider>,
        defaults: &Limits,
    ) -> Result<Self, SchemaError> {
        let input = Arc::new(Schema::compile(&contract.input_schema)?);
        let output = Arc::new(Schema::compile(&contract.output_schema)?);
        Self::enforcing(contract, provider, defaults, input, output)
    }

    /// The same where values are held against schemas of their own: those of an upstream, which the
    /// contract shows in the dialect that clients understand.
    pub fn enforcing(
        contract: Contract,
        provider: Arc<dyn Provider>,
        defaults: &Limits,
        input: Arc<Schema>,
        output: Arc<Schema>,
    ) -> Result<Self, SchemaError> {
        Ok(Self {
            input,
            output,
            limits: defaults.with(&contract.limits),
            parameter_headers: contract::parameter_headers::declared(&contract.input_schema)
                .map_err(|misplaced| SchemaError {
                    pointer: misplaced.pointer,
                    message: misplaced.message,
                })?,
            descriptor: OnceLock::new(),
            contract: Arc::new(contract),
            mode: EnforcementMode::default(),
            provider,
            metrics: Arc::default(),
            copies: CopyLimit::default(),
        })
    }
}

impl Tool {
    /// The same, counting on where another of its name has come to.
    #[must_use]
    pub fn continuing(self, before: &Tool) -> Self {
        Self { metrics: before.metrics.clone(), ..self }
    }

    /// True if it promises what another does.
    pub(crate) fn promises(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other)
            || self.mode == other.mode && self.contract.to_value() == other.contract.to_value()
    }

    /// The number of its calls, whatever came of them.
    pub fn calls(&self) -> u64 {
        self.metrics.calls()
    }

    /// Its descriptor. It tells the mode where that is not the usual one.
    pub fn descriptor(&self) -> &RawValue {
        self.descriptor.get_or_init(|| {
            let mut descriptor = contract::render::descriptor::descriptor(&self.contract);
            if self.mode != EnforcementMode::Enforce {
                descriptor["mode"] = json!(self.mode);
            }
            // A value can always be printed.
            serde_json::value::to_raw_value(&descriptor).unwrap_or_default()
        })
    }

    /// The arguments as they may be written down: without secrets, and not at all where it is not known that
    /// they match and a secret may stand where nobody marks it.
    pub(crate) fn to_keep(&self, input: &Value, matches: bool) -> Option<Box<RawValue>> {
        if self.input.has_secrets() && !matches {
            return None;
        }
        serde_json::value::to_raw_value(&self.input.redacted(input)).ok()
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tool({})", self.contract.name)
    }
}

/// Tools that are served under one name.
#[derive(Debug, Default)]
pub struct Toolset {
    /// Their names, sorted.
    pub tools: Vec<String>,
    /// The one that is meant where none is named.
    pub default: Option<String>,
}

/// A tool that is known, and is not served: whoever calls it learns why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithheldTool {
    /// The toolset that it would belong to.
    pub toolset: String,
    /// The code of the refusal.
    pub code: StandardCode,
    /// Why, for the caller.
    pub message: String,
    /// More for programs.
    pub reason: &'static str,
}

/// All the tools that are served.
#[derive(Default)]
pub struct Catalogue {
    tools: BTreeMap<String, Arc<Tool>>,
    /// The same once more for finding: a hash beats a tree of long names.
    index: HashMap<String, Arc<Tool>>,
    toolsets: BTreeMap<String, Toolset>,
    /// Names with dots by their portable spelling; nothing where it could mean more than one tool.
    portable: HashMap<String, Option<String>>,
    /// Tools that are in no listing.
    unlisted: BTreeMap<String, Arc<Tool>>,
    withheld: HashMap<String, WithheldTool>,
    /// The reason for names that begin like this.
    away: Vec<(String, WithheldTool)>,
}

impl Catalogue {
    /// A catalogue of these tools; planned ones are left out.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        Self::of(tools.into_iter().map(Arc::new), HashMap::new())
    }

    /// A catalogue of tools that may be in another one too, and of those that are known and not
    /// served, by name.
    pub fn of(
        tools: impl IntoIterator<Item = Arc<Tool>>,
        withheld: HashMap<String, WithheldTool>,
    ) -> Self {
        let mut catalogue = Self { withheld, ..Self::default() };
        for tool in tools {
            if tool.contract.status == ContractStatus::Planned {
                continue;
            }
            let name = tool.contract.name.clone();
            let toolset = catalogue.toolsets.entry(tool.contract.toolset.clone()).or_default();
            toolset.tools.push(name.clone());
            if tool.contract.toolset_default {
                toolset.default = Some(name.clone());
            }
            catalogue.withheld.remove(&name);
            catalogue.index.insert(name.clone(), tool.clone());
            catalogue.tools.insert(name, tool);
        }
        for toolset in catalogue.toolsets.values_mut() {
            toolset.tools.sort();
        }
        // The name of a tool that is withheld is its own: no spelling of it leads to another tool.
        let withheld = catalogue.withheld.keys();
        for name in catalogue.tools.keys().chain(withheld).filter(|name| name.contains('.')) {
            let spelling = portable_spelling(name);
            if !catalogue.tools.contains_key(&spelling)
                && !catalogue.withheld.contains_key(&spelling)
            {
                let only = |known: &mut Option<String>| *known = None;
                let meant = catalogue.portable.entry(spelling).and_modify(only);
                meant.or_insert_with(|| Some(name.clone()));
            }
        }
        catalogue
    }

    /// Says this of names that nobody knows and that begin like this.
    #[must_use]
    pub fn with_away(self, away: Vec<(String, WithheldTool)>) -> Self {
        Self { away, ..self }
    }

    /// Adds tools that are in no listing and in no toolset's, and that only [`crate::Call::unlisted`] finds.
    #[must_use]
    pub fn with_unlisted(mut self, tools: impl IntoIterator<Item = Arc<Tool>>) -> Self {
        let named = tools.into_iter().map(|tool| (tool.contract.name.clone(), tool));
        self.unlisted.extend(named);
        self
    }

    /// The unlisted tool of that name, if it belongs to the toolset that is meant.
    pub fn find_unlisted(&self, name: &str, toolset: Option<&str>) -> Option<&Arc<Tool>> {
        self.unlisted.get(name).filter(|tool| belongs(tool, toolset))
    }

    pub fn find(&self, name: &str) -> Option<&Arc<Tool>> {
        self.index.get(name)
    }

    /// The tool of that name, if it belongs to the toolset that is meant.
    pub fn find_in(&self, name: &str, toolset: Option<&str>) -> Option<&Arc<Tool>> {
        self.find(name).filter(|tool| belongs(tool, toolset))
    }

    /// The same, also by its portable spelling.
    pub fn find_spelled(&self, name: &str, toolset: Option<&str>) -> Option<&Arc<Tool>> {
        let portable = || self.find_in(self.portable.get(name)?.as_ref()?, toolset);
        self.find_in(name, toolset).or_else(portable)
    }

    /// The name of a tool for clients whose models take no dots: with `_` for each, if that means no other tool.
    pub fn portable_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let spelling = portable_spelling(name);
        let is_ours =
            self.portable.get(&spelling).is_some_and(|meant| meant.as_deref() == Some(name));
        if is_ours { Cow::Owned(spelling) } else { Cow::Borrowed(name) }
    }

    /// The reason why there is no such tool. A caller of one toolset learns nothing about the others.
    pub(crate) fn unknown(&self, name: &str, toolset: Option<&str>) -> Failure {
        let away = || self.away.iter().find(|(begins, _)| name.starts_with(begins));
        let withheld = self.withheld.get(name).or_else(|| away().map(|(_, withheld)| withheld));
        if let Some(known) = withheld.filter(|one| toolset.is_none_or(|meant| one.toolset == meant))
        {
            return Failure::new(known.code, &*known.message)
                .details(json!({ "reason": known.reason }));
        }
        let near = match toolset.map(|meant| self.toolset(meant)) {
            None => self.nearest(name),
            Some(toolset) => toolset.and_then(|toolset| {
                contract::nearest(name, toolset.tools.iter().map(String::as_str))
            }),
        };
        Failure::unknown_tool(name, near)
    }

    /// The tools that are known and not served, by name.
    pub fn withheld(&self) -> impl Iterator<Item = (&str, &WithheldTool)> {
        self.withheld.iter().map(|(name, withheld)| (name.as_str(), withheld))
    }

    /// True if the tool of that name is known and not served.
    pub fn is_withheld(&self, name: &str) -> bool {
        self.withheld.contains_key(name)
    }

    pub fn toolset(&self, name: &str) -> Option<&Toolset> {
        self.toolsets.get(name)
    }

    /// The tool whose name is nearest to a name that nobody has.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        contract::nearest(name, self.tools.keys().map(String::as_str))
    }

    /// Every tool, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// Every tool, also those that are in no listing.
    pub(crate) fn with_those_unlisted(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values().chain(self.unlisted.values())
    }

    /// Every toolset, sorted by name.
    pub fn toolsets(&self) -> impl Iterator<Item = (&String, &Toolset)> {
        self.toolsets.iter()
    }

    /// True if another catalogue has the same tools with the same contracts.
    pub(crate) fn is_listed_as(&self, other: &Self) -> bool {
        self.tools.len() == other.tools.len()
            && self.tools.values().zip(other.tools.values()).all(|(own, other)| own.promises(other))
    }

    /// The number of tools.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

fn portable_spelling(name: &str) -> String {
    name.replace('.', "_")
}

fn belongs(tool: &Tool, toolset: Option<&str>) -> bool {
    toolset.is_none_or(|meant| tool.contract.toolset == meant)
}
