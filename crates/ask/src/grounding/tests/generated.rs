//! Honest bullets over many texts, which are all accepted, and the same bullets spoiled in every
//! way that we could think of, which are all refused.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    super::{fold, words, words::Kind},
    corpus::{Page, Sentence, pages, stems},
    *,
};

/// An honest bullet and where it comes from.
struct Honest<'a> {
    page: &'a Page,
    sentence: &'a Sentence,
    claim: String,
    evidence: String,
}

fn honest(pages: &[Page]) -> Vec<Honest<'_>> {
    let mut found = Vec::new();
    for page in pages {
        for (at, sentence) in page.sentences.iter().enumerate() {
            for claim in &sentence.claims {
                let mut evidences = vec![sentence.text.to_owned()];
                evidences.push(format!(" {}\n", sentence.text.replace(' ', "  ")));
                evidences.push(decomposed(sentence.text));
                let next = page.sentences.get(at + 1);
                if let Some(next) = next.filter(|_| page.is_one_string()) {
                    evidences.extend(joined(page, sentence.text, next.text));
                }
                for evidence in evidences {
                    found.push(Honest { page, sentence, claim: (*claim).to_owned(), evidence });
                }
            }
        }
    }
    found
}

/// Two sentences as they stand one behind the other, whatever is between them.
fn joined(page: &Page, one: &str, other: &str) -> Option<String> {
    let marks = ["- ", "* ", "", ". ", "。"];
    let value = page.value();
    let texts = strings(&value);
    let ways = marks
        .iter()
        .flat_map(|mark| [format!("{one}\n{mark}{other}"), format!("{one}{mark}{other}")]);
    ways.filter(|way| texts.iter().any(|text| fold::needle(text).contains(&fold::needle(way))))
        .find(|way| way.len() > one.len() + other.len())
}

fn decomposed(text: &str) -> String {
    text.replace('é', "e\u{301}")
        .replace('ü', "u\u{308}")
        .replace('ö', "o\u{308}")
        .replace('ä', "a\u{308}")
        .replace('ñ', "n\u{303}")
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn honest_bullets_are_accepted() {
    let pages = pages();
    let mut distinct = BTreeSet::new();
    let mut refused = Vec::new();
    for one in honest(&pages) {
        match ground(&one.page.value(), &one.claim, &one.evidence) {
            Ok(_) => {
                distinct.insert((one.claim, one.evidence));
            }
            Err(reason) => refused.push(format!("{:?} on {:?}: {reason}", one.claim, one.evidence)),
        }
    }
    println!(
        "{} pages, {} distinct honest bullets accepted, {} refused",
        pages.len(),
        distinct.len(),
        refused.len()
    );
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(distinct.len() >= 1_000);
}

/// Spoiled bullets of one kind: the result, the claim, the evidence.
type Spoiled = Vec<(Value, String, String)>;

#[test]
fn spoiled_bullets_are_refused() {
    let pages = pages();
    let honest: Vec<Honest<'_>> = honest(&pages);
    let mut kinds: BTreeMap<&str, Spoiled> = BTreeMap::new();
    for one in &honest {
        for (kind, spoil) in WAYS {
            kinds.entry(kind).or_default().extend(spoil(one, &pages));
        }
    }
    let (mut distinct, mut accepted) = (BTreeSet::new(), Vec::new());
    for (kind, spoiled) in kinds {
        let mut count = 0;
        for (value, claim, evidence) in spoiled {
            if !distinct.insert((kind, claim.clone(), evidence.clone())) {
                continue;
            }
            count += 1;
            if ground(&value, &claim, &evidence).is_ok() {
                accepted.push(format!("{kind}: {claim:?} on {evidence:?}"));
            }
        }
        println!("{count:6} {kind}");
        assert!(count >= 100, "{kind}");
    }
    println!("{} distinct spoiled bullets, {} accepted", distinct.len(), accepted.len());
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
    assert!(distinct.len() >= 5_000);
}

type Spoil = fn(&Honest<'_>, &[Page]) -> Spoiled;

const WAYS: [(&str, Spoil); 11] = [
    ("numbers changed", numbers_changed),
    ("denial added", denial_added),
    ("denial removed", denial_removed),
    ("quote cut behind a denial", quote_behind_denial),
    ("quote too short", quote_too_short),
    ("quote from a key", quote_from_key),
    ("claims swapped", claims_swapped),
    ("names changed", names_changed),
    ("units changed", units_changed),
    ("quote altered", quote_altered),
    ("quote over two values", quote_over_values),
];

/// The bullet with another claim.
fn with_claims(one: &Honest<'_>, claims: impl IntoIterator<Item = String>) -> Spoiled {
    let value = one.page.value();
    let claims = claims.into_iter().filter(|claim| *claim != one.claim);
    claims.map(|claim| (value.clone(), claim, one.evidence.clone())).collect()
}

/// The bullet with other evidence.
fn with_evidence(one: &Honest<'_>, evidence: impl IntoIterator<Item = String>) -> Spoiled {
    let value = one.page.value();
    evidence.into_iter().map(|evidence| (value.clone(), one.claim.clone(), evidence)).collect()
}

fn is_denied(text: &str) -> bool {
    words::read(text).iter().any(|word| word.denial().is_some())
}

/// Each run of digits in a text.
fn digits(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|one: char| one.is_ascii_digit()) {
        let start = rest + start;
        let length = text[start..].find(|one: char| !one.is_ascii_digit());
        let end = length.map_or(text.len(), |length| start + length);
        found.push((start, &text[start..end]));
        rest = end;
    }
    found
}

fn numbers_changed(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    let mut claims = Vec::new();
    for (at, number) in digits(&one.claim) {
        let value: u64 = number.parse().unwrap();
        for other in [value + 1, value + 37, value * 10 + 7] {
            if digits(&one.evidence).iter().all(|(_, there)| there.parse() != Ok(other)) {
                claims.push(format!(
                    "{}{other}{}",
                    &one.claim[..at],
                    &one.claim[at + number.len()..]
                ));
            }
        }
    }
    with_claims(one, claims)
}

fn denial_added(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    if is_denied(&one.claim) || is_denied(one.sentence.text) {
        return Vec::new();
    }
    let denials: &[&str] = match one.page.language {
        "de" => &["Nicht", "Niemals", "Keine"],
        "fr" => &["Ne pas", "Jamais", "Sans"],
        "es" => &["No", "Nunca", "Sin"],
        "ja" => {
            return with_claims(
                one,
                [format!("{}しない", one.claim), format!("{}禁止", one.claim)],
            );
        }
        _ => &["Not", "Never", "No", "It is prohibited:"],
    };
    let mut claims: Vec<String> =
        denials.iter().map(|denial| format!("{denial} {}", one.claim)).collect();
    if one.page.language == "en" {
        for verb in ["is", "are", "must", "may", "was"] {
            claims.extend(
                one.claim
                    .contains(&format!(" {verb} "))
                    .then(|| one.claim.replacen(&format!(" {verb} "), &format!(" {verb} not "), 1)),
            );
        }
    }
    with_claims(one, claims)
}

fn denial_removed(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    if one.page.language == "ja" {
        let claims = [
            ("しない", "する"),
            ("していません", "しています"),
            ("禁止", "許可"),
            ("いない", "いる"),
        ];
        let changed = claims.iter().filter(|(no, _)| one.claim.contains(no));
        return with_claims(
            one,
            changed.map(|(no, yes)| one.claim.replace(no, yes)).collect::<Vec<_>>(),
        );
    }
    let words = words::read(&one.claim);
    if !words.iter().any(|word| word.denial().is_some()) {
        return Vec::new();
    }
    let kept = words.iter().filter(|word| word.denial().is_none()).map(|word| word.text.clone());
    let kept = kept.collect::<Vec<_>>().join(" ");
    let claims = ["", "Now ", "It is so: "].map(|opening| format!("{opening}{kept}"));
    with_claims(one, claims)
}

fn quote_behind_denial(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    let text = one.sentence.text;
    let words = words::read(text);
    let Some(denial) = words.iter().rposition(|word| word.denial().is_some()) else {
        return Vec::new();
    };
    if one.page.language == "ja" {
        return Vec::new();
    }
    let mut found = Vec::new();
    for evidence in [&text[words[denial].range.end..], &text[..words[denial].range.start]] {
        let claim = evidence.trim_matches(|one: char| !one.is_alphanumeric());
        found.push((one.page.value(), claim.to_owned(), evidence.trim().to_owned()));
        found.push((one.page.value(), one.claim.clone(), evidence.trim().to_owned()));
    }
    found
}

fn quote_too_short(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    if one.page.language == "ja" {
        return Vec::new();
    }
    let pieces: Vec<&str> = one.sentence.text.split(' ').collect();
    let mut quotes: Vec<String> = Vec::new();
    for length in 1..=2 {
        if pieces.len() > length {
            quotes.extend(pieces.windows(length).map(|some| some.join(" ")));
        }
    }
    for length in 3..pieces.len() {
        let idle = |quote: &String| words::read(quote).iter().all(|word| word.kind == Kind::Stop);
        quotes.extend(pieces.windows(length).map(|some| some.join(" ")).filter(idle));
    }
    with_evidence(one, quotes)
}

fn quote_from_key(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    let key = fold::needle(&one.evidence);
    let value = json!({ key: "A value of it", "list": [{ one.sentence.text: 5 }] });
    vec![(value, one.claim.clone(), one.evidence.clone())]
}

/// Claims of other sentences: those that share no more than one word with the evidence.
fn claims_swapped(one: &Honest<'_>, pages: &[Page]) -> Spoiled {
    let own = stems(&one.evidence);
    let mut claims = Vec::new();
    for page in pages.iter().filter(|page| page.language == one.page.language) {
        for other in &page.sentences {
            let is_other = other.stems.len() >= 2 && other.stems.intersection(&own).count() <= 1;
            let is_near = std::ptr::eq(page, one.page) && !one.evidence.contains(other.text);
            // Of other pages some are enough.
            if is_other && (is_near || other.text.len() % 29 == one.claim.len() % 29) {
                claims.push(other.text.to_owned());
            }
        }
    }
    with_claims(one, claims)
}

fn names_changed(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    let mut claims = Vec::new();
    for word in words::read(&one.claim) {
        let is_name = word.range.start > 0 && word.text.contains(char::is_uppercase);
        if is_name && matches!(word.kind, Kind::Content | Kind::Code) {
            for name in ["Zanzibar", "NorthStar", "qx-77.example"] {
                let (before, behind) =
                    (&one.claim[..word.range.start], &one.claim[word.range.end..]);
                claims.push(format!("{before}{name}{behind}"));
            }
        }
    }
    with_claims(one, claims)
}

fn units_changed(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    const UNITS: [(&str, &[&str]); 16] = [
        (" days", &[" months", " hours", " years"]),
        (" minutes", &[" hours", " seconds", " days"]),
        (" hours", &[" days", " minutes"]),
        (" months", &[" days", " years"]),
        (" seconds", &[" minutes", " hours"]),
        (" km", &[" miles", " m"]),
        (" GB", &[" MB", " TB"]),
        (" MB", &[" GB"]),
        ("%", &[" users", " €", ""]),
        ("€", &["$", "%"]),
        (" metres", &[" km", " miles"]),
        (" Tage", &[" Monate", " Wochen"]),
        (" Minuten", &[" Stunden"]),
        (" jours", &[" mois", " semaines"]),
        (" días", &[" meses", " horas"]),
        ("日間", &["年間", "週間"]),
    ];
    let changed = UNITS.iter().filter(|(unit, _)| one.claim.contains(unit));
    let claims = changed
        .flat_map(|(unit, others)| others.iter().map(move |other| one.claim.replace(unit, other)));
    with_claims(one, claims.collect::<Vec<_>>())
}

fn quote_altered(one: &Honest<'_>, _: &[Page]) -> Spoiled {
    let letters: Vec<char> = fold::needle(&one.evidence).chars().collect();
    let value = one.page.value();
    let flat: Vec<String> = strings(&value).into_iter().map(fold::needle).collect();
    let mut quotes = Vec::new();
    for at in (0..letters.len()).filter(|at| letters[*at].is_alphanumeric()).step_by(9) {
        let mut other = letters.clone();
        other[at] = if other[at] == 'x' { 'q' } else { 'x' };
        quotes.push(other.iter().collect::<String>());
    }
    quotes.retain(|quote| !flat.iter().any(|text| text.contains(quote)));
    if one.page.language != "ja" && letters.len() > 1 && letters[1].is_alphanumeric() {
        quotes.push(letters[1..].iter().collect());
    }
    with_evidence(one, quotes)
}

fn quote_over_values(one: &Honest<'_>, pages: &[Page]) -> Spoiled {
    let mut quotes = Vec::new();
    for page in pages.iter().filter(|page| page.is_many_strings() && std::ptr::eq(*page, one.page))
    {
        for other in &page.sentences {
            for between in [" ", "\n", ", ", ". "] {
                quotes.push(format!("{}{between}{}", one.evidence.trim(), other.text));
                quotes.push(format!("{}{between}{}", other.text, one.evidence.trim()));
            }
        }
    }
    with_evidence(one, quotes)
}
