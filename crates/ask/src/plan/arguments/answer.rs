//! A question back to the person is no place for facts: what only a source can know does not stand
//! in it, nor a link that someone should follow.

use super::{
    asked::Asked,
    decimal::Decimal,
    letters,
    tokens::{self, Token},
    words,
};

/// What makes a quantity of a count.
const UNITS: &[&str] = &[
    "am", "pm", "second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week",
    "weeks", "month", "months", "year", "years", "percent", "euro", "euros", "dollar", "dollars",
    "usd", "eur", "tage", "tagen", "wochen", "monate", "jahre", "stunden", "minuten", "prozent",
    "jours", "mois", "ans", "heures", "dias", "meses", "anos", "horas", "million", "thousand",
    "hundred", "gb", "mb", "kb", "km", "kg",
];
/// What stands between the parts of a list or of a pair.
const DIVIDERS: &[char] =
    &[',', ';', '=', '"', '`', '{', '}', '[', ']', '(', ')', '<', '>', '|', '\'', '*'];

/// The first link, number or id of a question back that is neither in the question nor known
/// otherwise. What is known is asked for in small letters, whole.
pub(in crate::plan) fn strange_answer(
    answer: &str,
    question: &str,
    known: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let asked = Asked::new(question);
    let mut items = 0;
    answer.lines().find_map(|line| {
        let line = with_plain_stops(&letters::normal(line));
        let mut tokens = tokens::split(&line);
        if is_item(&tokens, items + 1) {
            items += 1;
            tokens.remove(0);
        }
        let facts = Facts { asked: &asked, known, tokens: &tokens };
        (0..tokens.len()).find_map(|at| facts.strange(at))
    })
}

/// `2. Which one?`: the number of a line in a list.
fn is_item(tokens: &[Token], number: usize) -> bool {
    let [first, _, ..] = tokens else { return false };
    first.text == format!("{number}.") || first.text == format!("{number})")
}

/// `evil。example` opens `evil.example`.
fn with_plain_stops(line: &str) -> String {
    let mut before = ' ';
    let mut rest = line.chars().peekable();
    let mut out = String::with_capacity(line.len());
    while let Some(one) = rest.next() {
        let is_inside =
            before.is_ascii_alphanumeric() && rest.peek().is_some_and(char::is_ascii_alphanumeric);
        out.push(if one == '。' && is_inside { '.' } else { one });
        before = one;
    }
    out
}

/// What may be said in one line.
struct Facts<'a> {
    asked: &'a Asked,
    known: &'a dyn Fn(&str) -> bool,
    tokens: &'a [Token<'a>],
}

impl Facts<'_> {
    fn strange(&self, at: usize) -> Option<String> {
        let token = self.tokens[at];
        if token.is_unspaced {
            return numerals(token.text)
                .find(|run| !self.asked.text.contains(run))
                .map(str::to_owned);
        }
        let text = bare(token.text);
        if text.is_empty() || self.is_known(text) {
            return None;
        }
        let pieces: Vec<&str> = if text.contains("://") {
            vec![text]
        } else {
            text.split(DIVIDERS).map(bare).collect()
        };
        let is_strange =
            |piece: &&&str| !piece.is_empty() && !self.is_known(piece) && self.is_fact(piece, at);
        pieces.iter().find(is_strange).map(|piece| (*piece).to_owned())
    }

    fn is_known(&self, piece: &str) -> bool {
        self.asked.has_token(piece) || (self.known)(piece)
    }

    /// Whether a piece could be a fact that the person did not bring along.
    fn is_fact(&self, piece: &str, at: usize) -> bool {
        if is_link(piece) || piece.contains(['_', '\\', ':']) {
            return true;
        }
        if !piece.contains(char::is_numeric) {
            return piece.split('-').any(|word| self.is_number_word(word, at));
        }
        let number = Decimal::parse(&piece.replace(',', ""));
        let is_count = matches!(piece.as_bytes(), [b'2'..=b'9']) && self.counts(at);
        !is_count && !number.is_some_and(|number| self.asked.has_number(&number))
    }

    fn is_number_word(&self, word: &str, at: usize) -> bool {
        let word = letters::bare(word);
        if self.asked.has_word(&word) {
            return false;
        }
        match words::value(&word) {
            Some(value) if value > 3 => {
                let is_count = value < 10 && self.counts(at);
                !is_count && !self.asked.has_number(&Decimal::small(value))
            }
            Some(_) => false,
            None => words::power(&word).is_some(),
        }
    }

    /// Whether a small number says how many there are to choose from: something countable follows, and
    /// the sentence asks.
    fn counts(&self, at: usize) -> bool {
        let next = self.tokens.get(at + 1).map_or("", |next| bare(next.text));
        let is_noun = next.chars().count() > 1 && next.chars().all(char::is_alphabetic);
        let is_east_asian = self.tokens.get(at + 1).is_some_and(|next| next.is_unspaced);
        let mut ends = self.tokens[at..].iter().map(|token| token.text);
        let end = ends
            .find(|text| text.trim_end_matches(['"', '\'', ')', '*']).ends_with(['.', '?', '!']));
        let asks = end.is_some_and(|end| end.contains('?'));
        asks && (is_noun || is_east_asian) && !UNITS.contains(&next)
    }
}

/// A token without what surrounds it.
fn bare(token: &str) -> &str {
    let is_around =
        |one: char| !letters::is_letter(one) && !matches!(one, '/' | '\\' | '_' | '@' | '%' | '-');
    token.trim_matches(is_around).trim_end_matches('-').trim_start_matches('-')
}

/// Whether a piece leads somewhere: a URL, a host, a mailbox, a path.
fn is_link(piece: &str) -> bool {
    let labels: Vec<&str> =
        piece.split(['/', '?', '#']).next().unwrap_or_default().split('.').collect();
    let is_host = labels.len() > 1
        && labels.iter().all(|label| !label.is_empty())
        && labels.last().is_some_and(|last| last.chars().count() > 1);
    piece.contains("://")
        || piece.starts_with("www.")
        || piece.contains('@')
        || is_host
        || piece.starts_with('/') && piece.len() > 1
        || piece.matches('/').count() > 1
        || (piece.contains('/') && piece.contains('.'))
}

/// Numbers above ten in Chinese and Japanese signs.
fn numerals(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|one: char| !"一二三四五六七八九十百千万".contains(one));
    runs.filter(|run| run.chars().count() > 1 && run.contains(['十', '百', '千']))
}
