//! Sentences that tell a model what to do.
//!
//! The rules look at folded text: small letters, words with one space between them, look-alikes of
//! Latin letters as those, and nothing invisible. They are few and narrow on purpose, because a rule
//! that also fires at honest descriptions teaches people to look away.

use std::sync::LazyLock;

use regex::Regex;

use super::{SuspiciousText, invisible, shown};
use contract::Severity;

struct PhraseRule {
    name: &'static str,
    what: &'static str,
    severity: Severity,
    /// Matched against folded words, or against the folded text with its punctuation.
    words: bool,
    pattern: &'static str,
}

const RULES: &[PhraseRule] = &[
    PhraseRule {
        name: "ignore_instructions",
        what: "tells the model to ignore its instructions",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:ignore|disregard|forget|override|overrides|bypass|discard)\b (?:\w+ ){0,3}?(?:previous|prior|above|earlier|preceding|all|any|other|your|system|existing|original)\b (?:\w+ ){0,3}?(?:instructions?|rules|prompts?|guidelines|directives|constraints|policies)\b",
    },
    PhraseRule {
        name: "keep_from_user",
        what: "tells the model to keep something from the user",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:do not|don t|dont|never|must not|should not|without) (?:\w+ ){0,2}?(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|reveal|revealing|disclose|disclosing|alert|alerting|warn|warning) (?:\w+ ){0,8}?(?:user|users|human|person|anyone|anybody|them)\b",
    },
    PhraseRule {
        name: "keep_from_user",
        what: "tells the model to keep something from the user",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:do not|don t|dont|never) mention (?:that|this|it|the fact|anything|these|any of)\b|\b(?:hide|conceal|keep) (?:this|it|that|these|the following) (?:\w+ ){0,4}?from the (?:user|human)\b",
    },
    PhraseRule {
        name: "ask_nobody",
        what: "tells the model not to ask for consent",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:do not|don t|dont|never|no need to|without needing to) ask (?:\w+ ){0,3}?for (?:\w+ ){0,2}?(?:permission|confirmation|approval|consent)\b|\buser has (?:already )?(?:consented|approved|authorized|authorised|agreed|given (?:consent|permission|approval))\b",
    },
    PhraseRule {
        name: "before_other_tools",
        what: "puts itself before or in place of other tools",
        severity: Severity::Warning,
        words: true,
        pattern: r"\b(?:before|prior to|instead of) (?:\w+ ){0,2}?(?:using|calling|invoking|running|you use|you call) (?:any|every|all|each|other|the other)(?: of the)?(?: other)? (?:tools?|functions?)\b|\b(?:all|every|any) (?:other )?(?:tool calls?|tools) (?:must|should|have to|need to) (?:first|always|be (?:preceded|routed))\b",
    },
    PhraseRule {
        name: "other_tools",
        what: "tells the model how to use other tools",
        severity: Severity::Warning,
        words: true,
        pattern: r"\b(?:when|whenever|if) (?:\w+ ){0,8}?(?:the|another|any|other) (?:\w+ ){0,3}?tools? (?:is|are|gets?) (?:called|used|invoked|available|present)\b (?:\w+ ){0,12}?(?:must|always|instead|bcc|recipient|send)\b|\balways (?:bcc|cc)\b",
    },
    PhraseRule {
        name: "reveal_prompt",
        what: "asks for the model's own instructions",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:reveal|print|output|repeat|include|send|leak|expose|copy|return|append|paste|pass) (?:\w+ ){0,4}?(?:your|the model s|the assistant s|the full|the entire|the complete) (?:\w+ ){0,2}?(?:system|developer|initial|hidden) (?:prompt|message|instructions?)\b",
    },
    PhraseRule {
        name: "collect_conversation",
        what: "asks for the conversation",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:send|pass|include|forward|append|attach|copy|upload|post|provide) (?:\w+ ){0,4}?(?:entire|full|whole|complete|all previous|all prior) (?:\w+ ){0,2}?(?:conversation|chat|message|messages)(?: history| log| transcript| context)?\b",
    },
    PhraseRule {
        name: "read_secrets",
        what: "names files that hold secrets",
        severity: Severity::Error,
        words: false,
        pattern: r"(?:~|\$home|/root|/home/\w+|%userprofile%)[/\\]\.(?:ssh|aws|gnupg|kube|cursor|claude|config/gcloud|netrc|docker/config)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws/credentials|/etc/(?:passwd|shadow)\b|\.cursor/mcp\.json|claude_desktop_config\.json",
    },
    PhraseRule {
        name: "send_secrets",
        what: "tells the model to hand over secrets",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:read|collect|gather|find|extract|dump|get) (?:\w+ ){0,6}?(?:ssh keys?|private keys?|passwords|credentials|api keys|secrets|access tokens|env files?|environment variables) (?:\w+ ){0,6}?(?:and|then) (?:\w+ ){0,3}?(?:send|pass|include|post|upload|attach|forward|submit|append)\b|\b(?:send|post|upload|forward|exfiltrate|transmit) (?:\w+ ){0,4}?(?:ssh keys?|private keys?|passwords|credentials|api keys|env files?|environment variables) (?:\w+ ){0,3}?to\b",
    },
    PhraseRule {
        name: "smuggle",
        what: "asks for the content of a file in an unrelated argument",
        severity: Severity::Error,
        words: true,
        pattern: r"\b(?:pass|put|include|send|provide|add) (?:its|their|the|whole|full|file|entire|\w+ s) (?:\w+ ){0,3}?contents? (?:\w+ ){0,3}?(?:as|in|into|to) (?:\w+ ){0,2}?(?:sidenote|side note|notes|feedback|context|metadata|reasoning|summary)\b",
    },
    PhraseRule {
        name: "new_role",
        what: "gives the model another role",
        severity: Severity::Warning,
        words: true,
        pattern: r"\byou are now (?:a|an|in|the|no longer)\b|\bfrom now on you (?:are|will|must|should)\b|\bnew (?:system )?instructions (?:follow|are as follows|for the (?:model|assistant|ai))\b|\b(?:developer|god|jailbreak|dan) mode (?:is )?(?:now )?(?:enabled|activated)\b",
    },
    PhraseRule {
        name: "posed_authority",
        what: "imitates a message of the system or the user",
        severity: Severity::Error,
        words: false,
        pattern: r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<</?sys>>|</?\s*(?:system|system[_ -]?prompt|instructions?|assistant|hidden|secret[_ -]?instructions?)\s*>|\[(?:system|system message|system prompt)\]|(?:^|\n)\s*#{1,6}\s*system\s*(?:prompt|message)?\s*:",
    },
    PhraseRule {
        name: "shouted_authority",
        what: "is marked as more important than everything else",
        severity: Severity::Warning,
        words: false,
        pattern: r"</?\s*(?:important|critical|urgent|mandatory|attention|override)\s*>",
    },
    PhraseRule {
        name: "comment",
        what: "a comment, which rendered text does not show",
        severity: Severity::Warning,
        words: false,
        pattern: r"(?s)<!--.{0,2000}?-->|\[//\]: # \(",
    },
    PhraseRule {
        name: "encoded",
        what: "a long stretch of encoded text",
        severity: Severity::Warning,
        words: false,
        pattern: r"\b[a-z0-9+/]{200,}={0,2}|(?:\\x[0-9a-f]{2}){12,}|(?:%[0-9a-f]{2}){16,}",
    },
];

static COMPILED: LazyLock<Vec<(&'static PhraseRule, Regex)>> = LazyLock::new(|| {
    RULES.iter().filter_map(|rule| Some((rule, Regex::new(rule.pattern).ok()?))).collect()
});

/// Every rule that fires, once for each place.
pub(super) fn find(characters: &[char]) -> Vec<SuspiciousText> {
    let words = FoldedText::words(characters);
    let whole = FoldedText::whole(characters);
    let mut found: Vec<SuspiciousText> = Vec::new();
    for (rule, pattern) in COMPILED.iter() {
        let folded = if rule.words { &words } else { &whole };
        for hit in pattern.find_iter(&folded.text) {
            let range = folded.place(hit.start())..folded.place(hit.end().saturating_sub(1)) + 1;
            let known = |one: &SuspiciousText| {
                one.rule == rule.name && one.range.start < range.end && range.start < one.range.end
            };
            if found.iter().any(known) {
                continue;
            }
            let shown = shown(characters, range.clone());
            found.push(SuspiciousText {
                rule: rule.name,
                what: rule.what,
                pointer: String::new(),
                range,
                shown,
                severity: rule.severity,
            });
        }
    }
    found
}

/// A text made simple, and where each byte of it came from.
struct FoldedText {
    text: String,
    /// For each character of the text, where it starts there, and where it was before.
    places: Vec<(usize, usize)>,
}

impl FoldedText {
    /// Words with one space between them.
    fn words(characters: &[char]) -> Self {
        let mut folded = Self { text: String::new(), places: Vec::new() };
        for (index, one) in visible(characters) {
            match plain(one) {
                letter if letter.is_alphanumeric() || letter == '_' => folded.push(letter, index),
                _ if folded.text.ends_with(' ') || folded.text.is_empty() => {}
                _ => folded.push(' ', index),
            }
        }
        folded
    }

    /// The text with its punctuation.
    fn whole(characters: &[char]) -> Self {
        let mut folded = Self { text: String::new(), places: Vec::new() };
        for (index, one) in visible(characters) {
            folded.push(plain(one), index);
        }
        folded
    }

    fn push(&mut self, one: char, place: usize) {
        self.places.push((self.text.len(), place));
        self.text.push(one);
    }

    fn place(&self, byte: usize) -> usize {
        let index = self.places.partition_point(|(start, _)| *start <= byte);
        index.checked_sub(1).map_or(0, |index| self.places[index].1)
    }
}

/// The visible characters, and the letters that tag characters spell.
fn visible(characters: &[char]) -> impl Iterator<Item = (usize, char)> {
    characters.iter().enumerate().filter_map(|(index, one)| match invisible::spelled(*one) {
        Some(letter) => Some((index, letter)),
        None if invisible::is_invisible(*one) && !one.is_whitespace() => None,
        None => Some((index, *one)),
    })
}

/// A character as the small Latin one that it looks like.
fn plain(one: char) -> char {
    let one = match one {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(one) - 0xfee0).unwrap_or(one),
        // Letters of mathematics come in alphabets of 52.
        '\u{1d400}'..='\u{1d6a3}' => {
            let letter = (u32::from(one) - 0x1d400) % 26;
            char::from_u32(u32::from('a') + letter).unwrap_or(one)
        }
        'а' | 'А' => 'a',
        'е' | 'Е' | 'ё' => 'e',
        'о' | 'О' => 'o',
        'р' | 'Р' => 'p',
        'с' | 'С' => 'c',
        'у' | 'У' => 'y',
        'х' | 'Х' => 'x',
        'і' | 'І' => 'i',
        'ѕ' | 'Ѕ' => 's',
        'ј' | 'Ј' => 'j',
        'ԁ' => 'd',
        'ո' => 'n',
        one => one,
    };
    one.to_lowercase().next().unwrap_or(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_a_pattern() {
        assert_eq!(COMPILED.len(), RULES.len());
    }
}
