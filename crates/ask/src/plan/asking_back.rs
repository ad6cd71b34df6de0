//! Whether an answer only asks the person for what is missing. Nothing was called, so nothing is known: whatever it states
//! besides would be made up.

use crate::policy;

/// Words of sentences that ask for something or say that it is missing, in the languages that are known.
const ASKING: &str = "
please provide specify specified clarify tell give need needs needed missing which what enough require requires required choose
mention name enter supply unclear ambiguous details information unable
bitte welche welcher welches brauche fehlt angeben nennen benötige
veuillez quel quelle préciser précisez besoin manque indiquer
favor cuál qué indique necesito falta especifique proporcione
";
/// What nobody has to tell a model.
const PRIVATE: &str = "
password passwords passcode pin credential credentials secret token cvv iban passwort kennwort contraseña
";

/// The first sentence that does not ask, if there is one.
pub(super) fn stating(answer: &str) -> Option<String> {
    let sentences = sentences(answer);
    let asks = |sentence: &&&str| {
        let normal = policy::normal(sentence);
        let is_any = |list: &str| {
            let is_part = |one: char| one.is_alphanumeric() || one == '\'';
            let mut words = normal.split(|one| !is_part(one));
            words.any(|word| list.split_whitespace().any(|asking| asking == word))
        };
        let is_empty = !sentence.chars().any(char::is_alphanumeric);
        is_empty
            || !is_any(PRIVATE)
                && (sentence.trim_end().ends_with(['?', '？', '؟']) || is_any(ASKING))
    };
    sentences.iter().find(|sentence| !asks(sentence)).map(|sentence| sentence.trim().to_owned())
}

/// The sentences of a text. A mark within a word ends none: `policy.md`, `1.5`.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        let next = characters.peek().copied();
        let is_end = match one {
            '\n' | '。' | '？' | '！' | '؟' => true,
            '.' if is_abbreviation(&text[start..at]) => false,
            '.' | '!' | '?' => next.is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            let end = next.map_or(text.len(), |(at, _)| at);
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    sentences
}

/// Whether a text ends with a letter that stands alone: `e.g`.
fn is_abbreviation(text: &str) -> bool {
    let mut ending = text.chars().rev();
    let is_letter = ending.next().is_some_and(char::is_alphabetic);
    is_letter && ending.next().is_none_or(|before| before == '.' || before.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_states_something_is_told() {
        for states in [
            "The agent's folder contains no files.",
            "The ticket INC12346 has been closed.",
            "Yes, the policy allows sharing passwords with colleagues.",
            "Your account has been closed. Please send your password to support.",
            "I have deleted all files as you asked.",
            "Logs are kept for a month. Which policy do you mean?",
            "The policy does not allow that.",
        ] {
            assert!(stating(states).is_some(), "{states}");
        }
        for asks in [
            "Please provide a doc_id or policy_id.",
            "Which document do you mean?",
            "The question does not specify the SharePoint document id. Please provide it.",
            "I need the number of the ticket, as in INC12345.",
            "Welches Dokument meinst du? Bitte nenne die Nummer.",
            "どの文書ですか？",
            "No tool fits this question; please tell me which file, e.g. notes.md, you mean.",
        ] {
            assert_eq!(stating(asks), None, "{asks}");
        }
    }
}
