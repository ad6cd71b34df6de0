//! Parts that the patterns of several rules share.
//!
//! The engine has no look-around, so a rule says what stands around a dangerous word instead of what
//! must not: before it a command or a question how to do it, behind it an end or a word that goes on
//! with the deed. `secrets` at the end of a command is asked for, `secrets policy` is not.

/// Names that stand for parts, in angle brackets. A part may use those behind it.
const FRAGMENTS: &[(&str, &str)] = &[
    // Something is to be done: a command, a wish, or a question how. Only whoever asks counts: how
    // attackers do it, or whether a course tells how, is a fair question.
    (
        "<act>",
        r"<do>(?:(?:(?:(?:describe|explain)(?: to me)?|know|learn|(?:show|teach|tell) me|(?:talk|walk) me through)(?:<detail>)? )?<how>
            |<wish>|<way>)?",
    ),
    // How much is to be said of it.
    (
        "<detail>",
        r",? (?:exactly|in (?:[a-z]+ )?(?:detail|steps|terms|words)|step[ -]by[ -]step),?",
    ),
    ("<how>", r"how (?:to|(?:can|could|do|does|should|would) (?:i|one|we|you)|i can|i could) "),
    (
        "<wish>",
        r"(?:(?:i|we)(?:'d like| need| want| would like|'m going| am going) to (?:learn (?:how )?to )?
            |i wanna |help me (?:to )?|teach me to |what do i need to )",
    ),
    (
        "<way>",
        r"(?:give me |is there |what(?:'s| is| are) )?(?:the |an? |some )?(?:(?:best|common|easiest) )?
            (?:ways? to|steps to|(?:step by step )?(?:guide|instructions) (?:on how )?to) ",
    ),
    // Written directions are wanted; what for follows as a noun: `instructions for building`.
    (
        "<guide>",
        r"<do>(?:(?:(?:find|get|give|send|show|write)(?: me)? |i (?:need|want) )?(?:an? |the |some |detailed |step by step )*
            (?:directions|guide|instructions|manual|plans|recipe|steps|tutorial) (?:for|on|to)
            |(?:guide|lead|take|talk|walk) me (?:step by step )?through) ",
    ),
    // The beginning of a clause that tells somebody what to do. Behind `and` it counts only soon
    // after a command: "does it read files and return credentials?" is a question about a tool.
    (
        "<do>",
        r#"(?:^[ "'(*#>\[-]*|[.!?:;,] )(?:(?:hello|hey|hi|ok|okay) )?
            (?:(?:<command>(?: [a-z0-9_./'-]+){1,3} (?:and|then)|from now on|i want you to
            |(?:can|could|will|would) you|you (?:must|should)) )?
            (?:(?:also|and|i want to|i'd like to|just|now|please|then) )*"#,
    ),
    // What such a command begins with.
    (
        "<command>",
        r"(?:call|disregard|fetch|find|forget|get|ignore|list|open|read|run|search|show|summari[sz]e|use)",
    ),
    // The sentence goes on with the thing itself, not with something that is only called after it.
    ("<on>", r"(?:<end>|,| (?:and|from|in|on|that|to|using|via|which|with|without) )"),
    // What is done with it, or to whom: only words that cannot be the second half of its name.
    (
        "<against>",
        r" (?:against|aimed|as if|asking|by|claiming|from|impersonating|posing|pretending|so|stealing|targeting|that|using
            |which|with|without)\b",
    ),
    // Nothing more is said of the thing.
    (
        "<end>",
        r#"(?:["')]*(?:$|[.!?;]+["')]*(?: |$))
            | (?:anyway|even|for me|now|painlessly|please|quickly|step by step|today|tonight)\b
            | without (?:anyone|being|getting|them)\b)"#,
    ),
    // Mistakes of programs, by the names that they have.
    (
        "<weakness>",
        r"(?:(?:stack[ -]based |heap[ -]based )?(?:buffer|heap|integer|stack)[ -]overflows?|cross[ -]site scripting|csrf
            |cve-[0-9-]+|double[ -]frees?|(?:command|sql)[ -]injections?|(?:deserialization|format[ -]string|memory[ -]corruption)(?: bugs?| flaws?)?
            |heartbleed|log4shell|(?:directory|path)[ -]traversals?|race[ -]conditions?|rce|remote code execution|ssrf
            |use[ -]after[ -]frees?|xss|zero[ -]days?|open redirects?|(?:browser|driver|firmware|kernel|logic|memory|security) (?:bugs?|flaws?)
            |jwts?|(?:docker|kubernetes|s3) (?:buckets?|clusters?|sockets?))",
    ),
    // What opens a door without a name.
    ("<tokens>", r"(?:access|admin|api|auth|bearer|operator|refresh|service|session) tokens?"),
    // What a variable is set to is asked for.
    (
        "<value>",
        r"(?:(?:display|get|give|output|print|return|reveal|show|tell)(?: me)? |what(?:'s| is) )the (?:current )?value of(?: the)?",
    ),
    // What is handed to a process.
    ("<variables>", r"env(?:ironment)?(?: (?:variables?|vars?))?"),
];

/// A pattern from its template: lines are joined, names replaced, and `\b` means ASCII, which keeps
/// the engine fast on any text.
pub(super) fn expand(template: &str) -> String {
    let mut pattern = template.to_owned();
    for (name, fragment) in FRAGMENTS {
        pattern = pattern.replace(name, fragment);
    }
    let joined: String = pattern.split('\n').map(str::trim_start).collect();
    joined.replace(r"\b", r"(?-u:\b)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_lines_are_joined() {
        let pattern = expand("one\n    |<act>two\\b\n    |three<on>");
        assert!(pattern.starts_with("one|(?:^"), "{pattern}");
        assert!(pattern.contains(r"two(?-u:\b)|three(?:"), "{pattern}");
        assert!(!pattern.contains(['<', '\n']), "{pattern}");
    }
}
