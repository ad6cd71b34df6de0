//! Words that are removed, and words that only look like them.

use super::cleaned;

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(cleaned(text), *expected, "of {text:?}");
    }
}

/// Nothing is taken out of these.
fn keep(texts: &[&str]) {
    for text in texts {
        assert_eq!(cleaned(text), *text);
    }
}

#[test]
fn fillers_go() {
    check(&[
        ("Um, I think so.", "I think so."),
        ("Um, we think so.", "We think so."),
        ("We, er, think so.", "We, think so."),
        ("I think that is it, uh.", "I think that is it."),
        ("I think so uh... We should go.", "I think so... We should go."),
        (
            "So that, you know, is what it was, like, last year.",
            "So that, is what it was, last year.",
        ),
        ("WE HAVE, UH, THE NUMBERS.", "WE HAVE, THE NUMBERS."),
        ("Das ist, äh, nicht so, sozusagen, wichtig.", "Das ist, nicht so, wichtig."),
        ("C'est, euh, pas la peine, tu vois, de venir.", "C'est, pas la peine, de venir."),
        (
            "Es que, este, no lo sé, o sea, es muy difícil.",
            "Es que, no lo sé, o sea, es muy difícil.",
        ),
    ]);
}

#[test]
fn what_somebody_says_in_place_of_something_else_stays() {
    check(&[
        ("We need 5, I mean, 6 drives.", "We need 5, I mean, 6 drives."),
        ("Port 80, you know, 8080?", "Port 80, you know, 8080?"),
        ("Not Dana, you know, Kofi.", "Not Dana, you know, Kofi."),
        ("Take the left, you know, the right one.", "Take the left, you know, the right one."),
        ("Animals, like, cats.", "Animals, like, cats."),
        ("It was, like, huge.", "It was, huge."),
        ("Er ist Arzt, also, Zahnarzt.", "Er ist Arzt, also, Zahnarzt."),
        ("Necesitamos cinco, o sea, seis discos.", "Necesitamos cinco, o sea, seis discos."),
    ]);
}

#[test]
fn sounds_that_answer_stay() {
    check(&[
        (
            "I said uh huh it does and then uh oh it broke.",
            "I said uh huh it does and then uh oh it broke.",
        ),
        ("Did you test it? Uh uh. And then?", "Did you test it? Uh uh. And then?"),
        (
            "Dana: Did you?\n\nKofi: Mm hmm.\n\nDana: Uh huh.",
            "Dana: Did you?\n\nKofi: Mm hmm.\n\nDana: Uh huh.",
        ),
        ("I was uh uh walking home.", "I was walking home."),
    ]);
}

#[test]
fn words_that_look_like_fillers_stay() {
    keep(&[
        "The ER is open. We went to the UM campus.",
        "A gap of 5 mm is fine, and so is 3 mm.",
        "I like it. You know what I mean. It is kind of you.",
        "Er kommt um acht, um uns zu sehen.",
        "She asked: \"Um?\" Uh-huh. Mm-hmm.",
        "Eu quero um café, por favor, e um copo para ele.",
        "Uh? What was that?",
        "The bank of Um, as they call it, is closed.",
        "Hij zei dat er niet veel is, en er was niemand.",
        "Este libro es muy bueno, y este también.",
        "Things like this, you know them, are rare.",
    ]);
}

#[test]
fn two_languages_in_one_text_are_told_apart() {
    let text = "I think that we should go there now, and you know that it is what they would like to have. \
                And then he said to me: Wir treffen uns heute um acht Uhr mit der Gruppe und das ist nicht zu früh. \
                So, um, that is what we should do, and it is all that I know about this.";
    let clean = cleaned(text);
    assert!(clean.contains("heute um acht"), "{clean}");
    assert!(!clean.contains(", um,"), "{clean}");
}

#[test]
fn stutters_go() {
    check(&[
        ("I I I think the the plan is good.", "I think the plan is good."),
        ("The, the plan is good, and we, we like it.", "The plan is good, and we like it."),
        ("Th- the plan is wh- what I want.", "The plan is what I want."),
        (
            "I think I think we should go in the in the morning.",
            "I think we should go in the morning.",
        ),
        (
            "Ich ich glaube, dass wir wir das und und mehr haben.",
            "Ich glaube, dass wir das und mehr haben.",
        ),
        ("Je je pense que c'est c'est bien pour pour vous.", "Je pense que c'est bien pour vous."),
        ("Yo yo creo que es para para los niños.", "Yo creo que es para los niños."),
    ]);
}

#[test]
fn what_is_said_again_after_a_filler_was_begun_twice() {
    check(&[
        ("The, uh, the engine is old.", "The engine is old."),
        ("We were, um, we were just about to go.", "We were just about to go."),
        ("She was, I mean, she was late.", "She was, I mean, she was late."),
        ("Next week uh next week we are in the, um, in the hall.", "Next week we are in the hall."),
        ("I told you, uh, you can go.", "I told you, you can go."),
        ("I told you uh you can go.", "I told you you can go."),
        ("I like it, um, it is fun.", "I like it, it is fun."),
        ("I know what it is, uh, it is a fox.", "I know what it is, it is a fox."),
        ("That is route 5, uh, 5 miles on.", "That is route 5, 5 miles on."),
    ]);
}

#[test]
fn doubles_that_are_meant_stay() {
    keep(&[
        "My sister and I, I must admit, were late. Who knows who knows about it?",
        "He said he said nothing. A friend of a friend of mine went on and on and on about it.",
        "He had had enough, and I know that that is true.",
        "It was very, very cold. No, no, no. Bye bye!",
        "The code is 5 5 0 0 1, and 1 1 1 1 1 1 1 1 1 1 1 1.",
        "What it is is a test. I know, I know. We will see, we will see.",
        "Die, die das wissen, sagen, dass sie sie kennen.",
        "Nous nous sommes dit que vous vous trompez.",
        "Pre- and post-war houses are the same.",
        "I take A A batteries. Again and again and again, we try.",
        "Walla Walla is in the west, and so is Bora Bora.",
    ]);
}

#[test]
fn marks_go_and_brackets_stay() {
    check(&[
        ("[Music] Hello. (laughter) We go on. [door slams, applause]", "Hello. We go on."),
        ("Hello. [inaudible] and (as I said) a[0].", "Hello. [inaudible] and (as I said) a[0]."),
        ("Hello *laughs* you. 2 * 3 * 4.", "Hello you. 2 * 3 * 4."),
        ("[gentle music playing] We go on. [John laughs]", "We go on."),
        ("[laughter and applause] Hello. [phone ringing in background]", "Hello."),
    ]);
}

#[test]
fn brackets_around_what_is_said_stay() {
    keep(&[
        "We like [1] and [the music of Bach] a lot.",
        "He wrote \"teh\" [sic] and [music of the time] below it.",
        "Call [phone number] and ask for the [Music Department].",
        "She (laughs at her own jokes) is fine. The wind (from the north) is cold.",
    ]);
}

#[test]
fn sentences_get_what_they_lack() {
    check(&[
        ("i think i'm late", "I think I'm late."),
        ("hello there. how are you? fine", "Hello there. How are you? Fine"),
        ("iPhone sales are up", "iPhone sales are up."),
        ("write to me at ada@example.com", "Write to me at ada@example.com"),
        ("it is on https://example.com/um", "It is on https://example.com/um"),
        ("今天 我们 开始", "今天 我们 开始。"),
        ("Already clean, but no end", "Already clean, but no end."),
    ]);
    keep(&["One sentence. And a title", "Dr. No is here. And J. Smith, too."]);
}
