//! Which word of a clause is its verb, by its form, its neighbours, and a list of common ones.
//!
//! English has few endings, and `reports` may be a noun. Where a word may be either, its neighbours
//! decide; where they do not, it is no verb.

use std::{collections::HashSet, ops::Range, sync::LazyLock};

use crate::grounding::{
    stem::stem,
    words::{Gap, Kind, Word},
};

/// Verbs that are common in what tools return, in their base form.
const VERBS: &str = "
accept accompany achieve acknowledge acquire activate add adjust admit adopt advise affect agree alert allocate allow
amend analyse analyze announce answer apply appoint approve archive arrange arrest arrive ask assign attach attend audit
authorise authorize await award back ban bear beat become begin belong bill bless block boil book borrow break bring
build burn buy calculate call cancel capture carry catch cause chair change charge check choose claim clean clear climb
close collect come compile complete compress compute conduct configure confirm connect conserve consume contain continue
control convert cook coordinate copy correct cost count cover create cross cut damage deactivate decide declare decline
decrease decrypt defend define delay delete deliver deny deploy describe design destroy detect determine develop die
direct disable discard disclose discover dismiss display distribute divide donate download draft drain draw drink drive
drop earn eat edit elect email employ enable encrypt end endorse enforce enter erase escalate escort establish estimate
evaluate examine exceed execute exist expand expire explain export extend face fail fall fasten favour feed fetch fight
file fill filter find finish fire fit fix flush fly follow forbid forecast forward found freeze fry fund gain gather
generate give go govern grade grant grill grow guard guide handle happen harvest hash head heal heat help hide hire hold
host identify implement import improve include increase index inform inherit inspect install invent invest invite invoice
issue join judge keep kill know label land last launch lead learn lease leave lend lie lift limit link list live load
lock log lose lower maintain make manage manufacture mark mask meet melt mention mentor merge migrate mine monitor mount
move need negotiate nominate note notify obtain occupy occur offer open operate oppose order organise organize outline
oversee own pack paint park pass patch pause pay perform pick pitch place plan plant play post pour power predict prefer
prepare prescribe present preserve press prevent print process produce promise promote propose protect prove provide
publish pull pump purchase purge push put quit raise reach read rebuild receive recommend reconnect record recover redact
redirect reduce refund refuse register regulate reject release rely remain remind remove renew rent reopen repair repay
replace reply report represent request require resell reserve reset resign resize resolve respond restart restore
restrict result resume retain retire retrieve return reveal revert review revise revoke ride ring rise roast rotate route
run save scale scan schedule score search secure see seek sell send separate serve set settle share ship shoot show shred
shrink shut sign sleep smoke solve sort sponsor stamp stand start state stay steal steer step stop store strike study
submit sue suffer supervise supply support surrender suspend sweep swim switch tag take talk target taste teach tell
terminate test throw tighten track trade train transfer translate transmit transport travel treat triage trigger trim
turn type unlock update upgrade upload use validate verify view visit vote wait walk want warn wash watch water wear
weigh welcome widen win withdraw work wrap write
";

/// Those of which the form with an `s` is mostly a noun.
const NOUNS: &str = "
alert answer archive audit award bill block book break build burn call cause chair change charge check claim climb
control cook copy cost count cover cross cut damage delay design display download draft drain drink drive drop edit email end
escort estimate export face fight file fill filter find fire fit fix follow forecast forward fund gain grade grant guard
guide hash head heat help host import increase index invoice issue judge label land last launch lead lease lie lift limit
link list load lock log mark mask mentor mention mine monitor mount move need note offer order outline pack park pass
patch pause pick place plan plant play post power present press print process produce promise pump purchase push raise
reach record refund register release rent repair reply report request reserve reset result return review ride ring rise
route run sale scale scan schedule score search set share ship show sign sleep smoke sort sponsor stamp stand start state
stay step stop store strike study supply support switch tag target taste test track trade train transfer transport travel
treat trigger trim turn type update upgrade upload use view visit vote walk watch water win work
";

/// Past forms without `ed`.
const PASTS: &str = "
ate beat became died lied sued tied began blew bought broke brought built came caught chose cut did drank drew drove fed fell felt flew found
froze gave got grew had heard held kept knew laid lay led left lent lost made met paid put quit ran rang rose said sang
sank sat saw sent set shrank shut slept sold spent spoke stole stood struck swam taught thought threw told took was went
were won wore wrote
";

/// Verbs that say that something is somewhere, has something or is of some size, and not what
/// happened to it.
const STATES: &str = "
belong contain cost cover exist go happen hold include last lie live occur receive remain serve stand stay take weigh work
";

/// Words with an `s` before nouns that are no verbs: `sales teams`.
const PLURALS: &str = "
sales operations systems goods savings earnings news sports customs communications human resources means species series
always sometimes perhaps besides plus across various business address access process less towards days hours minutes weeks
months years
";

static VERB_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(VERBS));
static NOUN_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(NOUNS));
static STATE_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(STATES));
static PAST_FORMS: LazyLock<HashSet<&str>> = LazyLock::new(|| PASTS.split_whitespace().collect());
static PLURAL_FORMS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| PLURALS.split_whitespace().collect());

/// The stems of words and of their forms with an `s`, which are others for short words.
fn stems(list: &str) -> HashSet<String> {
    list.split_whitespace().flat_map(|word| [stem(word), stem(&format!("{word}s"))]).collect()
}

/// The first verb of a segment.
pub(super) fn find(sentence: &[Word], segment: Range<usize>) -> Option<usize> {
    let is_verb = |at: &usize| Place { sentence, segment: &segment, at: *at }.is_verb();
    segment.clone().find(is_verb)
}

/// Whether a word is in the past.
pub(in crate::grounding) fn is_past(key: &str) -> bool {
    let is_regular = key.len() > 4 && key.ends_with("ed") && !key.ends_with("eed");
    is_regular || PAST_FORMS.contains(key)
}

/// Whether a word can only be a verb by its form, or is a form of a common one.
pub(in crate::grounding) fn is_verb_form(word: &Word) -> bool {
    word.kind == Kind::Content
        && !is_nominal(&word.key)
        && (is_past(&word.key) || VERB_STEMS.contains(&word.stem))
}

/// Whether a word says how something is, and not what happened to it.
pub(in crate::grounding) fn is_state(word: &Word) -> bool {
    STATE_STEMS.contains(&word.stem)
}

/// A word in its segment.
struct Place<'a> {
    sentence: &'a [Word],
    segment: &'a Range<usize>,
    at: usize,
}

impl<'a> Place<'a> {
    fn word(&self) -> &'a Word {
        &self.sentence[self.at]
    }

    /// The word behind it, with no mark between them.
    fn next(&self) -> Option<&'a Word> {
        let next = self.at + 1;
        let is_within = next < self.segment.end && self.sentence[next].gap == Gap::None;
        is_within.then(|| &self.sentence[next])
    }

    /// The word before it.
    fn last(&self) -> Option<&'a Word> {
        (self.at > self.segment.start).then(|| &self.sentence[self.at - 1])
    }

    /// The thing before it that could do it.
    fn subject(&self) -> Option<&'a Word> {
        let mut before = self.sentence[self.segment.start..self.at].iter().rev();
        before.find(|word| word.is_content() && !super::is_conjunction(&word.key))
    }

    /// Whether a verb comes behind it, of the same clause.
    fn has_later(&self) -> bool {
        let is_over = |at: &usize| {
            let key = &*self.sentence[*at].key;
            super::is_subordinator(key) || super::is_relative(key)
        };
        let mut rest = (self.at + 1..self.segment.end).take_while(|at| !is_over(at));
        rest.any(|later| is_certain(self.sentence, later))
    }

    /// Whether something stands behind it that it could be done to.
    fn has_object(&self) -> bool {
        let is_object = |next: &Word| is_counted(next) || next.is_content();
        self.next().is_some_and(is_object) && !is_certain(self.sentence, self.at + 1)
    }

    fn is_verb(&self) -> bool {
        let word = self.word();
        let subject = self.subject();
        if is_auxiliary(&word.key) || matches!(&*word.key, "get" | "gets" | "got") {
            return true;
        }
        if matches!(&*word.key, "up" | "down") && subject.is_none() {
            return self.next().is_some_and(|next| next.number().is_some());
        }
        let is_noun =
            |last: &Word| is_determiner(last) || is_preposition(&last.key) || last.key == "to";
        if word.kind != Kind::Content || is_nominal(&word.key) || self.last().is_some_and(is_noun) {
            return false;
        }
        if is_past(&word.key) {
            // `The newly hired chemist resigned`
            let is_adjective = self.next().is_some_and(Word::is_content) && self.has_later();
            let is_relative = subject.is_some() && self.is_done_by();
            return !is_adjective && !is_relative;
        }
        match subject {
            Some(subject) => self.is_done(subject),
            None => self.is_first(),
        }
    }

    /// `Requests filed by partners`: only `by 5 %` can stand behind what is done.
    fn is_done_by(&self) -> bool {
        let behind = self.sentence[..self.segment.end].get(self.at + 2);
        self.next().is_some_and(|next| next.key == "by")
            && behind.is_none_or(|behind| behind.number().is_none())
    }

    /// Whether it is the verb of a clause that shares its subject: `revoke unused keys`, but not
    /// `test results are kept`.
    fn is_first(&self) -> bool {
        let word = self.word();
        let Some(next) = self.next().filter(|_| !self.has_later()) else { return false };
        // A plural is rarely followed by another noun.
        let is_clear = !NOUN_STEMS.contains(&word.stem)
            || is_counted(next)
            || (is_third(&word.key) && self.has_object());
        // `Coaches the chess club`
        let is_known =
            VERB_STEMS.contains(&word.stem) || (is_third(&word.key) && is_determiner(next));
        is_known && is_clear
    }

    /// Whether a clause ends with it that would have no verb otherwise: `The lift runs but …`,
    /// `When the bell rings, …`.
    fn ends_clause(&self) -> bool {
        if self.at + 1 != self.segment.end {
            return false;
        }
        let key = |at: usize| self.sentence.get(at).map_or("", |word| &*word.key);
        let end = self.segment.end;
        let is_opposed = match key(end) {
            "but" | "while" | "whereas" | "although" | "though" | "yet" => true,
            "and" => matches!(key(end + 1), "no" | "nobody" | "none" | "nothing"),
            _ => false,
        };
        let start = self.segment.start;
        let needs = |key: &str| matches!(key, "if" | "when" | "whenever" | "once" | "because");
        is_opposed || needs(key(start)) || (start > 0 && needs(key(start - 1)))
    }

    /// Whether it is what a subject does.
    fn is_done(&self, subject: &Word) -> bool {
        let word = self.word();
        let is_known = VERB_STEMS.contains(&word.stem);
        let is_noun = !is_known || NOUN_STEMS.contains(&word.stem);
        let has_object = self.has_object();
        if has_object && self.next().is_some_and(is_determiner) {
            return true;
        }
        if is_plural(&word.key) {
            let is_one = !is_plural(&subject.key) || subject.text.starts_with(char::is_uppercase);
            let is_sure = !is_noun || has_object || (is_known && self.ends_clause());
            return is_third(&word.key) && is_one && is_sure;
        }
        let is_many = is_plural(&subject.key)
            || matches!(
                &*subject.key,
                "people" | "staff" | "children" | "men" | "women" | "police"
            );
        // `Employees accrue 2 days`, but not `Windows Server 2019`
        let is_counting = self.next().is_some_and(|next| next.number().is_some())
            && word.text.starts_with(char::is_lowercase);
        // `The brakes work and …`, but not `sales work and …`
        let is_last = self.at + 1 == self.segment.end
            && self.last().is_some_and(|last| is_plural(&last.key) && is_third(&last.key));
        let is_sure = !is_noun || self.next().is_some() || is_last;
        is_many && (is_counting || (is_known && is_sure))
    }
}

fn is_plural(key: &str) -> bool {
    key.ends_with('s') && !key.ends_with("ss")
}

/// Whether a word has the ending of what one does.
fn is_third(key: &str) -> bool {
    is_plural(key)
        && !["us", "is", "ics"].iter().any(|ending| key.ends_with(ending))
        && !PLURAL_FORMS.contains(key)
}

/// Whether a word says which or how many of what stands behind it.
fn is_counted(word: &Word) -> bool {
    is_determiner(word) || word.number().is_some() || matches!(word.kind, Kind::Absolute(_))
}

/// Whether a word is a verb whatever stands around it.
fn is_certain(sentence: &[Word], at: usize) -> bool {
    let word = &sentence[at];
    let is_named =
        at > 0 && (is_determiner(&sentence[at - 1]) || is_preposition(&sentence[at - 1].key));
    is_auxiliary(&word.key)
        || (!is_named
            && word.kind == Kind::Content
            && !is_nominal(&word.key)
            && (is_past(&word.key)
                || (VERB_STEMS.contains(&word.stem) && !NOUN_STEMS.contains(&word.stem))))
}

/// Whether a word is made of a verb and is none.
fn is_nominal(key: &str) -> bool {
    // `Compared with last year` has no subject, and neither has `based on it`.
    matches!(key, "compared" | "based")
        || ["ing", "ings", "ion", "ions", "ment", "ments", "ery"]
            .iter()
            .any(|ending| key.ends_with(ending))
}

/// Whether a word helps another verb, or stands for `is`.
pub(in crate::grounding) fn is_auxiliary(key: &str) -> bool {
    key.ends_with("n't")
        || matches!(
            key,
            "is" | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "had"
                | "do"
                | "does"
                | "did"
                | "will"
                | "would"
                | "shall"
                | "should"
                | "can"
                | "could"
                | "may"
                | "might"
                | "must"
                | "cannot"
        )
}

fn is_determiner(word: &Word) -> bool {
    matches!(
        &*word.key,
        "the"
            | "a"
            | "an"
            | "this"
            | "these"
            | "those"
            | "its"
            | "their"
            | "his"
            | "her"
            | "our"
            | "my"
            | "your"
            | "no"
    )
}

/// Whether a word puts what stands behind it somewhere.
pub(in crate::grounding) fn is_preposition(key: &str) -> bool {
    matches!(
        key,
        "in" | "on"
            | "at"
            | "of"
            | "by"
            | "for"
            | "from"
            | "with"
            | "without"
            | "under"
            | "over"
            | "during"
            | "within"
            | "between"
            | "among"
            | "per"
            | "via"
            | "into"
            | "about"
            | "against"
            | "through"
            | "across"
    )
}
