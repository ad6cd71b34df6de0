//! Words by language. Short on purpose: a word is here only if it is safe to judge by itself.

use super::language::Language;

/// Sounds that are no word in any language that we know of.
pub(super) const SOUNDS: &[&str] = &[
    "ehm", "erm", "ermm", "euh", "euhh", "hm", "hmm", "hmmm", "mmm", "mmmm", "uh", "uhh", "uhhh",
    "uhm", "uhmm", "umm", "ummm", "äh", "ähh", "ähm", "ähmm", "öhm",
];

/// Sounds that are words elsewhere: `um` in German and Portuguese, `er` in German, `heu` in Catalan.
pub(super) fn sounds(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &["er", "mm", "um"],
        Language::German => &["öh", "öhh"],
        Language::French => &["heu", "heuu"],
        Language::Spanish => &["eeh", "emm"],
        Language::Other => &[],
    }
}

/// What says nothing where it stands between two commas.
pub(super) fn asides(language: Language) -> &'static [&'static [&'static str]] {
    match language {
        Language::English => &[
            &["ah"],
            &["eh"],
            &["i", "mean"],
            &["kind", "of"],
            &["like"],
            &["sort", "of"],
            &["you", "know"],
        ],
        Language::German => {
            &[&["halt"], &["ne"], &["sag", "ich", "mal"], &["sagen", "wir", "mal"], &["sozusagen"]]
        }
        Language::French => &[
            &["disons"],
            &["genre"],
            &["tu", "sais"],
            &["tu", "vois"],
            &["vous", "savez"],
            &["vous", "voyez"],
        ],
        Language::Spanish => {
            &[&["digamos"], &["eh"], &["este"], &["o", "sea"], &["sabes"], &["verdad"]]
        }
        Language::Other => &[],
    }
}

/// Words that nobody says twice on purpose. Not here: `had had`, `that that`, `is is`, `very very`,
/// German articles (`die, die das wissen`), `sie sie`, French `nous nous` and `vous vous`.
pub(super) fn stutters(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &[
            "a", "an", "and", "at", "because", "but", "for", "from", "he", "he's", "his", "i",
            "i'd", "i'll", "i'm", "i've", "if", "it's", "my", "of", "or", "our", "she", "she's",
            "that's", "the", "their", "there's", "they", "they're", "to", "we", "we'll", "we're",
            "we've", "with", "you're", "your",
        ],
        Language::German => &[
            "aber", "ein", "eine", "einem", "einen", "einer", "ich", "im", "mit", "oder", "und",
            "vom", "von", "weil", "wenn", "wir", "zum", "zur",
        ],
        Language::French => &[
            "au", "avec", "c'est", "ce", "dans", "de", "des", "du", "et", "il", "j'ai", "je", "le",
            "les", "ma", "mais", "mon", "par", "pour", "que", "qui", "un", "une", "à",
        ],
        Language::Spanish => &[
            "al", "con", "de", "del", "el", "en", "es", "las", "los", "mi", "para", "pero", "por",
            "su", "un", "una", "y", "yo",
        ],
        Language::Other => &[],
    }
}

/// Words that begin a phrase which was begun twice (`in the in the`), beside those above.
pub(super) fn beginnings(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => {
            &["in", "is", "it", "on", "so", "that", "there", "this", "was", "what", "when", "you"]
        }
        Language::German => {
            &["auf", "das", "dass", "der", "die", "es", "in", "ist", "so", "was", "wie", "zu"]
        }
        Language::French => &["ce", "elle", "est", "la", "nous", "on", "se", "sur", "tu", "vous"],
        Language::Spanish => &["como", "la", "lo", "no", "que", "se", "te"],
        Language::Other => &[],
    }
}

/// Words that are frequent in one language and no words, or rare ones, in the others.
pub(super) fn frequent(language: Known) -> &'static [&'static str] {
    match language {
        Known::English => &[
            "and", "are", "but", "can", "could", "did", "do", "don't", "for", "from", "get", "go",
            "going", "had", "have", "he", "hello", "hey", "how", "i", "i'm", "if", "is", "it",
            "it's", "just", "know", "like", "my", "not", "now", "of", "on", "our", "right", "she",
            "should", "thank", "thanks", "that", "the", "their", "then", "there", "they", "think",
            "this", "to", "we", "well", "were", "what", "when", "which", "with", "would", "yeah",
            "yes", "you", "your",
        ],
        Known::German => &[
            "aber", "auch", "auf", "das", "dass", "dem", "den", "der", "ein", "eine", "einen",
            "es", "für", "hat", "haben", "heute", "ich", "ist", "ja", "mal", "mit", "nicht",
            "noch", "oder", "sein", "sich", "sie", "sind", "uhr", "und", "uns", "von", "war",
            "wenn", "wie", "wir", "zu",
        ],
        Known::French => &[
            "avec", "c'est", "ce", "dans", "des", "du", "elle", "est", "et", "il", "j'ai", "je",
            "la", "le", "les", "mais", "n'est", "ne", "nous", "ont", "où", "pas", "pour", "que",
            "qui", "sont", "sur", "une", "va", "vous", "à", "ça",
        ],
        Known::Spanish => &[
            "como", "con", "del", "el", "ella", "en", "es", "esta", "está", "esto", "hay", "la",
            "las", "lo", "los", "muy", "más", "para", "pero", "por", "porque", "qué", "que", "se",
            "también", "tiene", "una", "y", "yo",
        ],
        Known::Portuguese => &[
            "as", "com", "da", "dele", "do", "ela", "ele", "em", "então", "eu", "gente", "isso",
            "mais", "meu", "minha", "muito", "na", "não", "no", "o", "os", "para", "por", "que",
            "são", "se", "também", "uma", "você", "é",
        ],
        Known::Italian => &[
            "anche", "che", "ci", "con", "da", "del", "della", "di", "e", "gli", "il", "io", "la",
            "le", "ma", "nel", "non", "per", "perché", "più", "questo", "sono", "una", "è",
        ],
        Known::Dutch => &[
            "aan", "als", "bij", "dat", "de", "een", "en", "het", "hij", "ik", "maar", "met",
            "naar", "niet", "nog", "ook", "op", "te", "van", "voor", "wat", "we", "wij", "ze",
            "zijn",
        ],
    }
}

/// The languages that are told apart; more than have lists, so that theirs are not used for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
}

impl Known {
    pub(super) const ALL: [Known; 7] = [
        Known::English,
        Known::German,
        Known::French,
        Known::Spanish,
        Known::Portuguese,
        Known::Italian,
        Known::Dutch,
    ];
}
