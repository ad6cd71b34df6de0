//! Past forms and participles that no ending tells: `taught` is `teach`.

use std::{collections::HashMap, sync::LazyLock};

/// A verb and its other forms on each line. Left out are those that are common words by themselves,
/// such as `left`, `rose` and `ground`.
const FORMS: &str = "
beat beaten
begin began begun
bite bitten
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
feed fed
fight fought
find found
fly flew flown
forbid forbade forbidden
forget forgot forgotten
freeze froze frozen
give gave given
grow grew grown
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
lend lent
lose lost
make made
meet met
overtake overtook overtaken
pay paid
repay repaid
ride rode ridden
see saw seen
sell sold
send sent
shake shook shaken
shoot shot
show showed shown
sing sang sung
speak spoke spoken
spend spent
steal stole stolen
strike struck stricken
swear swore sworn
sweep swept
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
wake woke woken
wear wore worn
win won
write wrote written
rewrite rewrote rewritten
withdraw withdrew withdrawn
undertake undertook undertaken
oversee oversaw overseen
rebuild rebuilt
";

static BASES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let mut words = line.split_whitespace();
        let base = words.next().unwrap_or_default();
        words.map(move |form| (form, base))
    };
    FORMS.lines().flat_map(line).collect()
});

/// The verb that a word is a form of.
pub(super) fn base(word: &str) -> Option<&'static str> {
    BASES.get(word).copied()
}

/// Whether a word is such a form.
pub(in crate::grounding) fn is_form(word: &str) -> bool {
    BASES.contains_key(word)
}
