//! Words by language. Short on purpose: a word is here only if it is safe to verify by itself.

use super::language::Language;

/// Sounds that are no word in any language that we know of.
pub(super) const SOUNDS: &[&str] = &[
    "ehm", "erm", "ermm", "euh", "euhh", "hm", "hmm", "hmmm", "mmm", "mmmm", "uh", "uhh", "uhhh",
    "uhm", "uhmm", "umm", "ummm", "äh", "ähh", "ähm", "ähmm", "öhm",
];

/// What is said on purpose as well: `um and er are sounds`.
pub(super) const ALSO_SAID: &[&str] = &["ah", "aha", "er", "oh", "uh", "um"];

/// Sounds that are words elsewhere: `um` in German and Portuguese, `er` in German, `heu` in Catalan.
pub(super) fn sounds(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &["er", "mm", "um"],
        Language::German => &["öh", "öhh"],
        Language::French => &["heu", "heuu", "hum"],
        Language::Spanish => &["eeh", "eh", "em", "emm"],
        Language::Other => &[],
    }
}

/// What says nothing where it stands between two commas. Not here is what announces that somebody corrects or explains
/// himself: `I mean`, `also`, `je veux dire`, `o sea`, `digamos`.
pub(super) fn asides(language: Language) -> &'static [&'static [&'static str]] {
    match language {
        Language::English => {
            &[&["ah"], &["eh"], &["kind", "of"], &["like"], &["sort", "of"], &["you", "know"]]
        }
        Language::German => &[
            &["halt"],
            &["ich", "sag", "mal"],
            &["ich", "sage", "mal"],
            &["ne"],
            &["sag", "ich", "mal"],
            &["sozusagen"],
            &["weißt", "du"],
            &["wie", "sagt", "man"],
            &["wie", "soll", "ich", "sagen"],
        ],
        Language::French => &[
            &["comment", "dire"],
            &["genre"],
            &["tu", "sais"],
            &["tu", "vois"],
            &["vous", "savez"],
            &["vous", "voyez"],
        ],
        Language::Spanish => &[
            &["bueno"],
            &["cómo", "decirlo"],
            &["eh"],
            &["este"],
            &["pues"],
            &["sabes"],
            &["verdad"],
        ],
        Language::Other => &[],
    }
}

/// Words that nobody says twice on purpose. Not here: `had had`, `that that`, `is is`, `very very`,
/// German articles (`die, die das wissen`), `sie sie`, French `nous nous`, `en en`, `que que`.
pub(super) fn stutters(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &[
            "a", "an", "and", "at", "because", "but", "can't", "could", "didn't", "don't", "every",
            "for", "from", "he", "he's", "his", "how", "i", "i'd", "i'll", "i'm", "i've", "if",
            "into", "it's", "my", "of", "or", "our", "she", "she's", "should", "than", "that's",
            "the", "their", "there's", "these", "they", "they're", "those", "to", "we", "we'll",
            "we're", "we've", "with", "would", "you're", "your",
        ],
        Language::German => &[
            "aber", "am", "beim", "dass", "durch", "ein", "eine", "einem", "einen", "einer", "für",
            "gegen", "ich", "im", "in", "ins", "man", "mein", "meine", "mit", "oder", "ohne",
            "seit", "und", "unser", "unsere", "vom", "von", "wegen", "weil", "wenn", "wir", "zum",
            "zur", "zwischen",
        ],
        Language::French => &[
            "au", "avec", "c'est", "c'était", "ce", "chez", "comme", "dans", "de", "des", "du",
            "elle", "et", "il", "ils", "j'ai", "j'avais", "j'étais", "je", "le", "les", "ma",
            "mais", "mes", "mon", "notre", "on", "par", "pour", "qui", "sa", "sans", "ses", "son",
            "sur", "tu", "un", "une", "votre", "à",
        ],
        Language::Spanish => &[
            "al", "con", "cuando", "de", "del", "el", "ella", "en", "es", "hay", "las", "los",
            "mi", "mis", "nos", "nuestra", "nuestro", "para", "pero", "por", "porque", "su", "sus",
            "un", "una", "y", "yo", "él",
        ],
        Language::Other => &[],
    }
}

/// Words of the above that come twice on purpose around a comma: `elle, elle sait`.
pub(super) fn without_comma(language: Language) -> &'static [&'static str] {
    match language {
        Language::German => &["dass", "in", "man", "seit"],
        Language::French => &["elle", "ils", "on", "tu"],
        Language::Spanish => &["ella", "es", "hay", "yo", "él"],
        Language::English => &["could", "should", "these", "those", "would"],
        Language::Other => &[],
    }
}

/// Words that may be meant twice, but not three times.
pub(super) fn thrice(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => {
            &["had", "her", "in", "is", "it", "on", "that", "this", "was", "what", "who", "you"]
        }
        Language::German => {
            &["auf", "das", "der", "die", "es", "hat", "ist", "sie", "um", "was", "wie", "zu"]
        }
        Language::French => &["en", "est", "nous", "que", "se", "vous", "ça"],
        Language::Spanish => &["como", "lo", "me", "que", "se", "te"],
        Language::Other => &[],
    }
}

/// Pronouns that are begun again with a verb: `I I've`. Not `you you're`: `I told you you're late`.
pub(super) fn contracted(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &["he", "i", "she", "they", "we"],
        _ => &[],
    }
}

/// Words that end one sentence and begin the next, with a filler between: `I told you, uh, you can go`.
pub(super) fn either(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &["her", "here", "is", "it", "that", "there", "this", "you"],
        Language::German => &["es", "hier", "ihr", "ist", "sie"],
        Language::French => &["elle", "elles", "lui", "nous", "vous", "ça"],
        Language::Spanish => &["ella", "eso", "esto", "él"],
        Language::Other => &[],
    }
}

/// Words that nothing ends with.
pub(super) fn articles(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &["a", "an", "my", "our", "the", "their", "your"],
        Language::German => {
            &["dem", "den", "der", "des", "die", "ein", "eine", "einem", "einen", "einer", "meine"]
        }
        Language::French => &["au", "des", "du", "la", "le", "les", "ma", "mon", "un", "une"],
        Language::Spanish => &["del", "el", "la", "las", "los", "mi", "un", "una"],
        Language::Other => &[],
    }
}

/// Words between others that come again and again: `over and over and over`, `day after day after day`.
pub(super) fn links(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &["after", "and", "by", "for", "from", "or", "to", "upon"],
        Language::German => &["auf", "für", "in", "um", "und", "zu"],
        Language::French => &["de", "en", "et", "par", "à"],
        Language::Spanish => &["a", "de", "en", "por", "y"],
        Language::Other => &[],
    }
}

/// What is said of words that are said again: `he said he said nothing`, `I know I know`.
pub(super) fn said_again(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &["hoped", "knew", "know", "knows", "said", "says", "thought"],
        Language::German => &["sagt", "sagte", "weiß"],
        Language::French => &["dit", "sais"],
        Language::Spanish => &["dice", "dijo", "sé"],
        Language::Other => &[],
    }
}

/// Words that begin a phrase which was begun twice (`in the in the`), beside those above.
pub(super) fn beginnings(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &[
            "about", "are", "as", "by", "can", "did", "do", "does", "has", "have", "how's", "in",
            "is", "it", "let's", "on", "so", "that", "there", "this", "was", "were", "what",
            "what's", "when", "where", "which", "who", "why", "you", "you'd", "you'll", "you've",
        ],
        Language::German => &[
            "auf", "bei", "bin", "da", "das", "dass", "dein", "der", "die", "diese", "dieser",
            "du", "er", "es", "gibt", "hab", "habe", "haben", "hat", "ihr", "ist", "kann",
            "kannst", "nach", "sie", "sind", "so", "um", "war", "was", "wie", "wo", "zu",
        ],
        Language::French => &[
            "ce",
            "combien",
            "comment",
            "d'un",
            "d'une",
            "elles",
            "en",
            "est",
            "est-ce",
            "il",
            "j'en",
            "la",
            "nous",
            "parce",
            "qu'est-ce",
            "qu'il",
            "quand",
            "que",
            "quel",
            "quelle",
            "se",
            "si",
            "vous",
        ],
        Language::Spanish => &[
            "como", "creo", "cómo", "cuando", "ellos", "esa", "ese", "esta", "está", "este",
            "estoy", "la", "lo", "me", "no", "que", "qué", "se", "si", "te", "tengo", "tiene",
            "tú", "vamos", "voy",
        ],
        Language::Other => &[],
    }
}

/// Words that are frequent in one language and no words, or rare ones, in the others.
pub(super) fn frequent(language: Known) -> &'static [&'static str] {
    match language {
        Known::English => &[
            "about", "and", "are", "because", "been", "but", "can", "could", "could've", "did",
            "didn't", "do", "doesn't", "don't", "every", "for", "from", "get", "go", "going",
            "had", "has", "have", "he", "hello", "her", "hey", "his", "how", "i", "i'd", "i'll",
            "i'm", "i've", "if", "into", "is", "isn't", "it", "it's", "its", "just", "know",
            "let's", "like", "me", "my", "nobody", "not", "now", "of", "on", "our", "right", "she",
            "should", "some", "thank", "thanks", "that", "that's", "the", "their", "then", "there",
            "there's", "these", "they", "they're", "think", "this", "those", "to", "was", "we",
            "we're", "well", "were", "what", "when", "where", "which", "who", "why", "with",
            "would", "yeah", "yes", "you", "your",
        ],
        Known::German => &[
            "aber", "am", "auch", "auf", "bei", "beim", "bin", "da", "das", "dass", "dem", "den",
            "der", "des", "deshalb", "doch", "du", "durch", "ein", "eine", "einen", "es", "euch",
            "für", "gibt", "habe", "haben", "hast", "hat", "heute", "ich", "ihm", "ihn", "ihr",
            "im", "ins", "ist", "ja", "jetzt", "kann", "kein", "keine", "mal", "man", "mein",
            "meine", "mich", "mir", "mit", "müssen", "nach", "nicht", "noch", "nur", "oder",
            "schon", "sehr", "sein", "sich", "sie", "sieht", "sind", "uhr", "und", "uns", "unser",
            "vom", "von", "vor", "war", "was", "wegen", "weil", "wenn", "werden", "wie", "wir",
            "wird", "wo", "wurde", "zu", "zum", "zur", "über",
        ],
        Known::French => &[
            "alors",
            "au",
            "aussi",
            "aux",
            "avait",
            "avec",
            "c'est",
            "c'était",
            "ce",
            "cette",
            "comment",
            "d'un",
            "d'une",
            "dans",
            "des",
            "du",
            "elle",
            "est",
            "et",
            "fait",
            "faut",
            "il",
            "ils",
            "j'ai",
            "j'avais",
            "jamais",
            "je",
            "la",
            "le",
            "les",
            "leur",
            "lui",
            "ma",
            "mais",
            "mes",
            "moi",
            "mon",
            "n'est",
            "ne",
            "nos",
            "notre",
            "nous",
            "on",
            "ont",
            "où",
            "parce",
            "pas",
            "peut",
            "plus",
            "pour",
            "qu'est-ce",
            "qu'il",
            "qu'on",
            "quand",
            "que",
            "qui",
            "rien",
            "sa",
            "ses",
            "son",
            "sont",
            "suis",
            "sur",
            "ton",
            "tout",
            "très",
            "tu",
            "une",
            "va",
            "votre",
            "voulais",
            "vous",
            "à",
            "ça",
            "était",
            "été",
            "être",
        ],
        Known::Spanish => &[
            "ahora", "al", "aquí", "así", "como", "con", "cuando", "cómo", "de", "del", "dos",
            "el", "ella", "ellos", "en", "es", "ese", "eso", "esta", "este", "esto", "está", "fue",
            "hacer", "hay", "la", "las", "lo", "los", "luego", "me", "mi", "mis", "muy", "más",
            "nada", "no", "nos", "nuestra", "nuestro", "para", "pero", "por", "porque", "puede",
            "que", "qué", "se", "sin", "sobre", "su", "sus", "también", "tiene", "todo", "tú",
            "un", "una", "usted", "y", "ya", "yo", "él",
        ],
        Known::Portuguese => &[
            "ao", "as", "com", "da", "de", "dele", "do", "dos", "ela", "ele", "em", "então",
            "essa", "esse", "eu", "foi", "gente", "isso", "mais", "mas", "meu", "meus", "minha",
            "muito", "na", "no", "nos", "não", "nós", "o", "os", "para", "por", "que", "se", "são",
            "também", "uma", "você", "às", "é",
        ],
        Known::Italian => &[
            "al", "alla", "anche", "che", "ci", "con", "da", "dei", "del", "della", "di", "e",
            "gli", "ha", "ho", "il", "io", "la", "le", "lo", "ma", "nel", "non", "per", "perché",
            "più", "questo", "sono", "suo", "un", "una", "uno", "è",
        ],
        Known::Dutch => &[
            "aan", "als", "ben", "bij", "dat", "de", "een", "en", "heb", "hebben", "heeft", "het",
            "hier", "hij", "ik", "maar", "met", "naar", "niet", "nog", "onze", "ook", "op", "over",
            "te", "van", "voor", "wat", "we", "wel", "werd", "wij", "ze", "zijn",
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

/// After these `like` between two commas says nothing; elsewhere it begins an example.
pub(super) const BEFORE_LIKE: &[&str] = &[
    "am", "and", "are", "be", "been", "being", "but", "he", "he's", "i", "i'm", "is", "it", "it's",
    "just", "she", "she's", "so", "that's", "they", "they're", "was", "we", "we're", "were", "you",
    "you're",
];
