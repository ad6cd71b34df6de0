//! Words without their endings, so that `retained` is `retain` and `policies` is `policy`.
//!
//! Cruder than a stemmer of one language, since it is not known which one it is. Two words that
//! should not be one rarely become one; two that should be may stay two.

mod irregular;

pub(super) use irregular::is_form as is_irregular;

/// The shortest stem that an ending is taken from, in characters.
const MIN_STEM: usize = 3;
/// The shortest stem that a German ending is taken from, in characters.
const MIN_LONG_STEM: usize = 4;

/// The stem of a word in small letters.
pub(super) fn stem(key: &str) -> String {
    let word = key.strip_suffix("'s").or_else(|| key.strip_suffix('\'')).unwrap_or(key);
    let word = irregular::base(word).unwrap_or(word);
    if word.chars().count() <= MIN_STEM || !word.chars().all(char::is_alphabetic) {
        return word.to_owned();
    }
    let singular = without_plural(word);
    let stem = without_ending(&singular);
    // `delete` and `deleted`, `retry` and `retried`.
    let stem = strip(stem, "e", MIN_STEM).or_else(|| strip(stem, "y", MIN_STEM)).unwrap_or(stem);
    undoubled(stem).to_owned()
}

fn without_plural(word: &str) -> String {
    if let Some(start) = strip(word, "ies", 2) {
        return format!("{start}y");
    }
    for ending in ["sses", "xes", "ches", "shes", "zes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    let is_plural = word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us");
    if is_plural && !word.ends_with("is") {
        word[..word.len() - 1].to_owned()
    } else {
        word.to_owned()
    }
}

fn without_ending(word: &str) -> &str {
    for (ending, least) in [
        ("ations", MIN_STEM),
        ("ation", MIN_STEM),
        ("ions", MIN_LONG_STEM),
        ("ion", MIN_LONG_STEM),
        ("ments", MIN_STEM),
        ("ment", MIN_STEM),
        ("ings", MIN_STEM),
        ("ing", MIN_STEM),
        ("ied", 2),
        ("ed", MIN_STEM),
        ("ly", MIN_STEM),
        ("en", MIN_LONG_STEM),
    ] {
        if let Some(start) = strip(word, ending, least) {
            return start;
        }
    }
    word
}

fn strip<'a>(word: &'a str, ending: &str, least: usize) -> Option<&'a str> {
    word.strip_suffix(ending).filter(|start| start.chars().count() >= least)
}

/// `logg`, of `logging`, is `log`.
fn undoubled(stem: &str) -> &str {
    let mut last = stem.chars().rev();
    match (last.next(), last.next()) {
        (Some(one), Some(other)) if one == other && !matches!(one, 's' | 'l' | 'e' | 'o' | 'f') => {
            &stem[..stem.len() - one.len_utf8()]
        }
        _ => stem,
    }
}

/// Whether one word is the other with a prefix that turns it round.
pub(super) fn is_opposite(one: &str, other: &str) -> bool {
    const PREFIXES: [&str; 14] = [
        "un", "in", "im", "il", "ir", "dis", "non", "de", "a", "anti", "mis", "over", "under",
        "nicht",
    ];
    let turned = |word: &str, plain: &str| {
        plain.chars().count() >= MIN_LONG_STEM
            && word.strip_suffix(plain).is_some_and(|prefix| PREFIXES.contains(&prefix))
    };
    turned(one, other) || turned(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str]) {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        assert!(stems.windows(2).all(|two| two[0] == two[1]), "{stems:?}");
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        check(&["log", "logs", "logging", "logged"]);
        check(&["retain", "retains", "retained", "retaining"]);
        check(&["delete", "deletes", "deleted", "deleting", "deletion"]);
        check(&["policy", "policies", "policy's"]);
        check(&["retry", "retries", "retried", "retrying"]);
        check(&["encrypt", "encrypted", "encryption", "encrypting"]);
        check(&["require", "requires", "required", "requirement"]);
        check(&["access", "accesses"]);
        check(&["process", "processes", "processing"]);
        check(&["notify", "notifies", "notified"]);
        check(&["month", "months", "monthly"]);
        check(&["teach", "teaches", "taught", "teaching"]);
        check(&["choose", "chose", "chosen"]);
        check(&["beat", "beats", "beaten"]);
        check(&["protokoll", "protokolle", "protokollen"]);
    }

    #[test]
    fn other_words_have_other_stems() {
        for (one, other) in
            [("log", "login"), ("user", "use"), ("day", "date"), ("form", "formal"), ("bus", "bu")]
        {
            assert_ne!(stem(one), stem(other));
        }
    }

    #[test]
    fn prefixes_turn_words_round() {
        assert!(is_opposite("encrypt", "unencrypt"));
        assert!(is_opposite("disconnect", "connect"));
        assert!(!is_opposite("encrypt", "decrypted"));
        assert!(!is_opposite("log", "unlog"));
    }
}
