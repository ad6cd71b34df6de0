//! What nobody has to tell a model.

use std::sync::LazyLock;

use regex::Regex;

/// Secrets by their names, in the languages that are known, and what only banks ask to tell people apart.
static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"\b(?:passwords?|passcodes?|passphrases?|passwort|kennwort|contraseña|mot de passe|pins?|credentials?|secrets?",
        r"|tokens?|otp|cvv|cvc|ssn|iban|social security|apikeys?|login details|bank details|session cookies?",
        r"|\w+_(?:tokens?|passwords?|secrets?)|(?:access|api|private|secret)_keys?",
        r"|maiden names?|you born|how old are you|you live|security (?:questions?|answers?)|your (?:own )?(?:birth ?da(?:te|y)|(?:date|place) of birth|passport|driver'?s licen[cs]e",
        r"|(?:national|tax) (?:ids?|numbers?)|home address|age|income|religion|salary|first (?:car|job|pet|school|street|teacher)",
        r"|(?:child|children|daughter|father|husband|mother|parent|partner|pet|son|spouse|wife)(?:'?s)?)",
        r"|(?:bank |your )accounts? (?:numbers?|details)|(?P<before>[a-z0-9_-]+)?[ -]?\b(?:keys?|codes?|cards?))\b",
    );
    Regex::new(pattern).expect("the pattern is sound")
});

/// What a key, a code or a card is of, where it opens nothing.
const HARMLESS: &[&str] = &[
    "airport", "area", "business", "country", "currency", "error", "exit", "foreign", "issue",
    "language", "object", "postal", "primary", "product", "project", "report", "sort", "source",
    "status", "stock", "story", "ticket", "zip",
];
/// What is only called after a secret, and is none.
const ABOUT: &[&str] = &[
    "document",
    "documents",
    "guideline",
    "guidelines",
    "policies",
    "policy",
    "procedure",
    "procedures",
    "rule",
    "rules",
    "runbook",
    "ticket",
    "tickets",
];

/// Whether a normalised sentence speaks of a secret. `password policy` is none.
pub(super) fn is_asked(sentence: &str) -> bool {
    SECRETS.captures_iter(sentence).any(|found| {
        let whole = found.get(0).expect("a match has a whole");
        let next = sentence[whole.end()..].split_whitespace().next().unwrap_or_default();
        let next = next.trim_matches(|one: char| !one.is_alphanumeric());
        let before = found.name("before").map_or("", |before| before.as_str());
        let is_harmless = HARMLESS.contains(&before.trim_end_matches('-'));
        !is_harmless && !ABOUT.contains(&next)
    })
}
