//! Parts that the patterns of several rules share.
//!
//! The engine has no look-around, so a rule says what stands around a dangerous word instead of what
//! must not: before it a command or a question how to do it, behind it an end or a word that goes on
//! with the deed. `secrets` at the end of a command is asked for, `secrets policy` is not.

/// Names that stand for parts, in angle brackets. A part may use those behind it.
const FRAGMENTS: &[(&str, &str)] = &[
    ("<act>", "(?:<do>|<how>)"),
    (
        // A command: at the beginning of a clause, or asked politely.
        "<do>",
        r#"(?:(?:^["'(\[*#> -]*|[.!?;:,()\[\]*>#] ?|- |\b(?:and|then|also|but|now|please|kindly|instead|finally|next|okay|ok|hey|hi|hello|assistant|(?:can|could|would|will) you|(?:want|need|like|order|command|instruct|tell|ask|asking|urge) you to|you (?:can|may|must|should|have to|need to|will|shall)|your (?:task|job|goal|mission) is(?: now)? to|feel free to|go ahead and|find (?:a|any) way to|from now on|time to|first|let's|let us) )<how_much>)"#,
    ),
    (
        // Somebody wants to know how a deed is done, or to do it. Attackers are not among those who
        // ask: how they break in is a fair question.
        "<how>",
        r"(?:\b(?:how (?:to|(?:do|does|can|could|would|should|might|did) (?:i|we|you|one|someone|somebody|anyone|a person)|(?:i|we|you|one) (?:can|could|would|should|might))|(?:is there (?:a|any)|(?:a|an|the)? ?(?:best|good|easy|easiest|quick|quickest|fastest|simple|simplest|cheapest|painless|safest)) ways? to|ways to|ways of|steps to|(?:script|program|code|bot|app|tool|someone|somebody|software) (?:that can|to|for)|(?:i|we)(?:'m|'d|'ve|'ll| am| are| would| have| will)? (?:(?:really|just|also|still|only|now) )?(?:want|wanna|need|like|love|wish|plan|planning|intend|intending|going|gonna|trying|try|about|decided|have|ready|tempted)(?: to)?|can i|could i|help (?:me|us)(?: to| with)?|(?:teach|show|tell) (?:me|us)(?: how)?(?: to)?|(?:guide|tutorial|tutorials|instructions?|recipe|manual|lessons?|course|tips|advice|blueprint|help) (?:to|for|on|in|with)|learn(?: how)?(?: to)?|thinking (?:of|about)|let me) <how_much>)",
    ),
    (
        "<how_much>",
        r"(?:(?:please|just|kindly|simply|now|then|also|quickly|quietly|secretly|silently|immediately|first|always|completely|totally|fully|easily|remotely|safely|anonymously|best|successfully|actually|go ahead and|go about|start) )*",
    ),
    (
        // Whose it is, and of what kind; a whole thing with an owner counts as one word.
        "<whose>",
        r"(?:(?:[a-z]+(?:'s|s')|a|an|the|any|some|all|every|my|your|our|his|her|their|its|this|that|these|those|another|other|others|of|into|in|to|me|us|one|two|ex|else's|random|specific|certain|public|private|protected|remote|local|old|new|locked|vulnerable|target|company|corporate|office|school|university|government|bank|business|online|web|personal|gmail|google|facebook|instagram|whatsapp|snapchat|tiktok|twitter|linkedin|outlook|microsoft|office 365|icloud|apple|amazon|paypal|netflix|steam|wordpress|windows|linux|android|iphone|mac|email|e-mail|mail|user|admin|wi-fi|wifi|wireless|bluetooth|home|social media|smart|security|credit card|database|wpa|wpa2|wpa3) )*",
    ),
    (
        // Nothing more is said of the thing, so that it is the thing itself that is meant.
        "<end>",
        r#"(?:$|[.!?;)\]"*]| ?[:-] | (?:please|now|today|tonight|tomorrow|anyway|asap|quickly|quietly|secretly|immediately|right|for me|for us|for fun|and then|so that|without (?:being|getting|anyone|anybody|them|him|her|me|permission|a|my|his|their|asking|leaving|consent)|step by step|undetected|anonymously|thanks|thank you|pls|lol)\b)"#,
    ),
    (
        // Where secrets lie.
        "<store>",
        r"(?:(?:a|an|the|your|our|this|its|all|every|any|each|other|another|of|in|internal|company|prod|production|process|server's|stored|hidden|local|running|gateway's|remote) )*(?:env|environments?|\.env|config|configs|configurations?|vaults?|servers?|systems?|memory|process|processes|databases?|keychain|keyring|hosts?|gateways?|tools?|machines?|computers?|disk|browsers?|users?|admins?|administrators?|customers?|employees?|colleagues?|services?|accounts?|backend|settings|secrets? (?:store|manager)|context|plain ?text|clear ?text|plaintext|prompt|session|container|cluster)\b",
    ),
];

/// What alternatives begin with, most of them. Those that begin alike share it, which makes patterns
/// a fraction as large.
const BEGINNINGS: [&str; 3] = ["<act>", "<do>", "<how>"];

/// A pattern from its template. A line that begins with `|` begins another alternative, and any other
/// goes on with the one before; names are replaced; and `\b` means ASCII, which keeps the engine fast
/// on any text.
pub(super) fn expand(template: &str) -> String {
    let mut alternatives: Vec<String> = Vec::new();
    for line in template.lines().map(str::trim_start) {
        match (line.strip_prefix('|'), alternatives.last_mut()) {
            (None, Some(last)) => last.push_str(line),
            (line_after_bar, _) => alternatives.push(line_after_bar.unwrap_or(line).to_owned()),
        }
    }
    let mut parts = Vec::new();
    for beginning in BEGINNINGS {
        let rests: Vec<String> = alternatives
            .extract_if(.., |one| one.starts_with(beginning))
            .map(|one| one[beginning.len()..].to_owned())
            .collect();
        if !rests.is_empty() {
            parts.push(format!("{beginning}(?:{})", rests.join("|")));
        }
    }
    parts.append(&mut alternatives);
    let mut pattern = parts.join("|");
    for (name, fragment) in FRAGMENTS {
        pattern = pattern.replace(name, fragment);
    }
    pattern.replace(r"\b", r"(?-u:\b)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_that_begin_alike_share_it() {
        let short = expand("one\n  |<end>\n  two\n  |<how_much>x\\b");
        assert!(short.starts_with("one|(?:$|"), "{short}");
        let shared = expand("<act>one\n  |<do>two\n  |<act>three|four");
        assert!(shared.contains("(?:one|three|four)|"), "{shared}");
        assert!(shared.ends_with("(?:two)"), "{shared}");
        assert!(!shared.contains('<'), "{shared}");
    }
}
