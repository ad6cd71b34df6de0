//! The words of the forms: patterns for a piece in its normal form, with names for the parts that several of them share.
//!
//! Who asks uses few words, and these are all: a verb that is not here is an order.

/// Short courtesies, at the start of a piece.
pub(super) const COURTESIES: &str = r"^(?:sure|certainly|of course|absolutely|ok|okay|all right|alright|great|hello|hey|hi(?: there)?
    |(?:thanks|thank you)(?: for (?:asking|your (?:message|question|request)))?|(?:i'm |i am )?(?:so |very )?sorry
        (?: for the (?:confusion|inconvenience)| about that)?|(?:my )?apologies|unfortunately|(?:i'm|i am) afraid(?: that)?|understood|got it
    |i (?:see|understand)|no problem|(?:happy|glad) to help(?: you)?(?: with that)?
    |i(?:'d| would|'ll| will) (?:be (?:happy|glad|able) to|gladly|love to) (?:assist|help)(?: you)?(?: with (?:that|this|your request))?
    |i can (?:assist|help)(?: you)?(?: with (?:that|this))|(?:also|first|however|just|kindly|maybe|perhaps|please|simply|so|still|therefore)
    |bitte|danke|gerne|leider|por favor|gracias|merci|désolé|s'il (?:te|vous) plaît)(?: |$)";

/// Where what is introduced begins, if no comma says so.
pub(super) const BEFORE: &str =
    r"\b(?:please|kindly|i (?:need|require)|(?:can|could|would) you|which|what)\b";

/// What for, in which case, and examples.
pub(super) const INTRODUCES: &str = r"^(?:(?:in order )?to (?:(?:begin|continue|go on|proceed|start)(?: with(?: \S+){1,4})?
        |(?:answer|assist|call|complete|do|give|help|perform|provide|run|<looking>)(?: \S+){0,7})
    |for(?: \S+){1,6}|so (?:that )?(?:i|we) can(?: \S+){1,7}|before i can(?: \S+){1,7}|if (?:so|not|possible|available|known)
    |if (?:you(?:'d like|'re looking| are looking| have| know| like| mean| meant| need| want| would like)|there (?:is|are))(?: \S+){1,7}
    |depending on(?: \S+){1,5}|with(?:out)? (?:that|this|it|<det>)(?: \S+){0,4}
    |<example>)$";

/// What may be the first of several things that are missing: `start_date and end_date are required`.
pub(super) const BEGINS: &str = r"^(?:(?:<det> )*\S+_\S+|(?:<det> )+(?:\S+ ){0,2}?<strict>)$";

/// Examples, which may be a sentence of their own.
pub(super) const EXAMPLES: &str = r"^<example>$";

/// Requests for information. The verbs of the first line can ask for nothing else.
pub(super) const ASKS: &str = r"^(?:(?:feel free|don't hesitate|do not hesitate) to |you(?:'ll| will)?(?: can| could| may| must| need to| have to| should)? (?:also )?)?(?:
    (?:clarify|describe|elaborate|indicate|mention|name|narrow (?:down|it|your)|rephrase|reword|reformulate|restate|specify)(?:$| .*)
    |(?:let (?:me|us) know|tell (?:me|us)|inform me)(?:$| (?:about |more |of )?(?:<wh>\b.*|(?:if|whether|a bit|a little|more) .*|<object>))
    |be (?:a (?:bit|little) )?(?:more )?(?:clear(?:er)?|exact|precise|specific)(?:$| .*)
    |(?:add|enter|give|identify|include|input|list|provide|repeat|say|state|supply|type|write)(?: in)? <object>
    |confirm (?:<wh>|if|whether|that you (?:mean|want))\b.*
    |(?:confirm|send|share) <strict object>|share (?:it|them)(?: here| with me)?
    |(?:choose|pick|select)(?:$| (?:<wh>|among|an?|another|any|between|either|exactly|from|just|of|one|only)\b.*| the <object>)
    |ask (?:about|again|for|me|something|your question|an?|another|one)\b.*
    |try (?:again|asking|rephrasing|a different|another|to (?:rephrase|specify))\b.*
    |(?:angeben|benennen|nenne|nennen|präzisiere|präzisieren|sage?|sagen|schreiben sie mir|teilen sie mir|wähle|wählen|bestätigen|formulieren
        |spezifizieren)\b.*
    |(?:<det> )?(?:\S+ ){1,6}(?:angeben|nennen|mitteilen|präzisieren)
    |(?:geben sie|gib|gebe)\b.* (?:an|mir)\b.*
    |(?:veuillez )?(?:choisir|choisissez|confirmer|confirmez|dites-moi|donner|donnez|fournir|fournissez|indiquer|indiquez|préciser|précisez)\b.*
    |(?:aclare|confirme|dígame|elija|especifique|indique|indíqueme|proporcione)\b.*)$";

/// Sentences that say what is missing.
pub(super) const MISSES: &str = r"^(?:
    <question>(?: \S+)? (?:(?:did|does|do)(?:n't| not) (?:contain|give|have|identify|include|indicate|make clear|mention|name|provide|say|specify
        |state|tell)\b|(?:lacks|leaves|needs|names no|gives no|contains no|has no|mentions no|says nothing)\b
        |(?:is|was|seems|appears)(?:n't| not| too| a bit| a little| very)* (?:ambiguous|clear|complete|general|incomplete|missing|short|specific
        |unclear|vague)\b|(?:must|should|has to|needs to) (?:contain|give|have|include|mention|name|say|specify)\b).*
    |you (?:did|do|have)(?:n't| not) (?:give|include|mention|name|provide|say|specify|state|tell me)\b.*
    |no (?:\S+ ){1,6}?(?:(?:is|was|are|were|has been|have been) )?(?:<told>|in <question>)\b.*
    |(?:\S+ ){1,8}?(?:is|are|was|were|has|have)(?:n't| not)(?: been)? (?:clear|<told>)\b.*
    |(?:\S+ ){1,8}?(?:must|should|has to|have to|needs? to) be <told>\b.*
    |(?:<det> )*(?:\S+ ){0,4}?<info>(?: \S+){0,4}? (?:is|are|was|were|seems) (?:ambiguous|missing|necessary|needed|required|unclear|unspecified)\b.*
    |(?:missing|ambiguous|unclear)(?: (?:<det>|<info>|[a-z]+ed|mandatory|search|valid))*(?: <info>|(?: \S+)?(?: <info>)*? <strict>)
    |(?:(?:<det>|mandatory|required|arguments?|fields?|parameters?) )*\S+_\S+(?: <info>)?(?: is| are| was| were| seems)? (?:an? )?(?:mandatory|missing|necessary
        |needed|not <told>|required|unclear|unspecified)(?:$| (?:arguments?|fields?|parameters?|values?|<follow>)\b.*)
    |(?:missing|needed|required|unspecified)(?: (?:<det>|mandatory|required|<info>))*(?: \S+_\S+|(?: \S+)? <strict>)?
    |(?:i|we)(?:'d|'ll| also| am| do| first| just| only| still| will| would)* (?:lack|miss|missing|need|require) (?:
        to (?:know|be told)\b.*|you to (?:clarify|confirm|describe|give|name|provide|specify|tell me)\b.*|<object>)
    |(?:i|we)(?: also| still)* need|(?:i'm|i am) missing <object>
    |(?:i|we) (?:<cannot>|(?:do|did|could)(?:n't| not))(?: fully| quite| yet)*
        (?: (?:have enough|be sure|determine|figure out|guess|know|tell|understand|work out)\b.*
        | (?:find|get|have|identify|recogni[sz]e|see) (?:(?:\S+ ){1,6}?in <question>\b.*|<strict object>))
    |(?:i|we) <cannot>(?: \S+){1,6}? without <object>
    |(?:i'm|i am) (?:not (?:certain|clear|sure)|unsure) (?:about|how|if|i|whether|<wh>)\b.*
    |it(?:'s| is) (?:ambiguous|not (?:clear|specified)|unclear|unspecified)(?:$| (?:how|if|whether|to me|<wh>)\b.*)
    |(?:not enough|insufficient|more|further|additional) (?:\S+ )?(?:context|details?|information|info|specifics)\b.*
    |(?:(?:the|this|that|each)(?: \S+){0,2} (?:call|function|lookup|search|tool)|\S+_\S+|it) (?:expects|needs|requires|takes|wants) <object>
    |there(?:'s| is| was| are| were) (?:no|nothing)\b.* (?:in <question>|<told>)\b.*
    |(?:it|that|this|<question>) (?:can|could|may|might) (?:be|mean) (?:many|more than one|several|various)\b.*
    |(?:ich|mir|es|j'|je|il|me|yo|hace|\S+ \S+|\S+)? ?(?:benötige|brauche|fehlen|fehlt|ai besoin|manque|necesito|falta)\b.*)$";

/// Sentences that say that no tool fits, or what the tools are for.
pub(super) const NO_TOOL: &str = r"^(?:
    no (?:\S+ ){0,2}tools? (?:available|can|could|does|exists?|fits?|for|here|in|is|are|match(?:es)?|that|to|which)\b.*
    |none of (?:my|the|these|your)(?: \S+)? tools\b.*
    |(?:i|we) (?:do not|don't|did not|didn't) (?:find|have|see) (?:access to )?(?:an?|any|the)(?: \S+){0,2} tools?\b.*
    |(?:i|we)(?:'ve| have) no (?:\S+ ){0,2}tools?\b.*
    |there(?:'s| is| are) no (?:\S+ ){0,2}tools?\b.*
    |(?:my|the|these)(?: \S+)? tools (?:can(?:not|'t| not| only)?|cover|do not|don't|only)\b.*
    |(?:i|we) <cannot> (?:answer|assist|book|change|close|create|delete|do|edit|help|make|perform|remove|send|start|support|update|write)\b.*
    |(?:i|we)(?: can| could|'ll| will|'d| would)(?: only| also| gladly| be (?:able|glad|happy) to)* (?:<offering>|get)\b.*
    |with <det>(?: \S+){0,3} i (?:can|could|will) <offering>\b.*
    |<question> (?:cannot|can't|can not) be answered\b.*
    |<question> (?:falls|is) (?:beyond|not covered|outside)\b.*)$";

/// Questions. What a person should do is none.
pub(super) const QUESTIONS: &str = r"^(?:and |or )?(?:
    (?:(?:about|after|at|before|by|during|for|from|in|of|on|since|to|under|until|with) )?(?:<wh>|what's|where's|who's)(?:$| .*)
    |how (?:can i|do you (?:call|spell|want)|exactly|far|large|long|many|may i|much|often|old|should i|would you like)\b.*
    |(?:can|could|will|would) you (?:also |kindly |maybe |perhaps |please |possibly )*(?:<telling>|help me understand)\b.*
    |would you mind (?:clarifying|giving|naming|providing|sharing|specifying|telling)\b.*
    |would you (?:like|prefer|rather)(?: me to <offering>\b.*| to <looking>\b.*| <det>\b.*| <wh>\b.*| \S+|$)
    |(?:did|do) you (?:have|know|mean|prefer|refer to|remember)\b.*
    |(?:did|do) you (?:need|want|wish)(?: me to <offering>\b.*| to <looking>\b.*| <det>\b.*| \S+| <info>\b.*|$)
    |are you (?:after|asking|interested|looking|referring|searching|thinking)\b.*
    |(?:is|are|was|were) (?:it|that|there|these|they|this|those|the|your|one)\b.*
    |(?:does|has|have) (?:it|that|the|this|they|you got|your)\b.*
    |(?:can|could|may|might) i (?:also |just |please )*(?:ask\b.*|(?:get|have|know|see) <object>|<offering>\b.*)
    |(?:shall|should) i (?:also |first |instead |just |only |rather )*(?:<offering>\b.*|assume (?:that )?you (?:are|mean|meant|need|refer|want)\b.*)
    |anything else(?: \S+){0,4}|any (?:\S+ ){0,2}<info>(?: \S+){0,4}
    |<det> (?:\S+ ){0,3}<info>|<info>(?: <info>)*
    |(?:welche[mnrs]?|was|wer|wen|wem|wo|wann|wie|wessen|meinen|meinst|möchten|können sie (?:mir )?.* (?:angeben|nennen|sagen)|könnten sie .*
        (?:angeben|nennen|sagen))\b.*
    |(?:à |de |pour |dans )?(?:quel|quelle|quels|quelles|lequel|laquelle|qui|où|quand|combien|voulez-vous|pouvez-vous (?:\S+ )?(?:indiquer|préciser))\b.*
    |¿?(?:a |de |en |para )?(?:cuál|cuáles|qué|quién|dónde|cuándo|cuánto|cuántos|se refiere)\b.*
    |(?:di |per |in |de |em )?(?:quale|quali|cosa|che cosa|dove|quando|chi|qual|quais|onde|welke?|wat|waar|wie|hvilke[nt]?|vilke[nt]|który|która|które|jaki)\b.*)$";

/// How a piece may go on with the one before: it begins as a part of a sentence does, never with a verb.
pub(super) const GOES_ON: &str = r"^(?:(?:also|not|only|optionally|possibly|preferably) )?(?:
    (?:<det>|<wh>|about|anyone|anything|as|at|both|by|either|etc|from|how|if|in|of|on|someone|something|than|whether|with|within|without)(?:$| .*)
    |(?:i (?:can|could|will)|i'll|so (?:that )?i can|to) <looking>(?:$| .*)
    |you(?:'d like|'re looking| are looking| asked| have| like| mean| meant| need| refer| want| would like)(?:$| .*)
    |(?:compare|find|read|search|summari[sz]e)(?:$| (?:it|them|for|in)(?:$| .*))
    |(?:<info>|\S*[0-9_./]\S*|[a-z-]+[a-rt-z]s|else|more|other|others|similar)(?: <info>)*(?:$| <follow>\b.*))$";

/// What may be offered instead of something: a lookup of another kind.
pub(super) const CHOOSES: &str =
    r"^(?:check|compare|fetch|find|list|look|read|search|see|show|summari[sz]e)(?:$| .*)$";

/// Words that say which of several things is meant.
pub(super) const QUALITY: &str = r"^(?:<det>|[a-z]+ed|active|all|both|complete|current|different|draft|entire|existing|external|final|full|general|high
    |inactive|internal|just|last|latest|long|low|medium|new|newer|next|not|old|older|only|open|pending|previous|private|public|recent|same|short|specific
    |unread|upcoming|urgent|whole)$";

/// One word for something that can be told.
pub(super) const THING: &str = r"^(?:<info>|ones?)$";

/// What a model has once it was told, behind the word that says when.
pub(super) const KNOWS: &str = r"^(?:(?:i|we)(?: also| finally)? (?:get|had|have|knew|know|receive|see)|i've|i've got) <object>$";

/// What begins as a clause about the thing before it does, and asks.
pub(super) const ASIDE: &str = r"^(?:
    <wh>(?: (?:\S+ ){0,3}?(?:<info>|ones?)(?: (?:about|from|in|of|on)\b.*)?)?
    |.* (?:you'd|you're|you (?:are|have|know|like|mean|meant|need|refer|want|would)|(?:can|do|may|shall|should) i)\b.*
    |(?:where|when|who) (?:it|that|they|this) (?:is|are|was|were)(?: \S+)?
    |(?:where|when|(?:which|whose) \S+) (?:are|can|could|did|do|does|is|should|was|were|will|would)\b.*
    |wh(?:ich|o) (?:are|is) (?:it|that|the|these|this|those|your)\b.*)$";

/// Where or when something can be found, as an indirect question.
pub(super) const STORED: &str = r"^(?:where|when) (?:<det> )*(?:\S+ )?<info> (?:is|are|was|were)(?: (?:at|created|due|from|in|kept|located|opened|reported|saved|stored|updated))?$";

/// Names that stand for parts, in angle brackets. A part may use those behind it.
const PARTS: &[(&str, &str)] = &[
    (
        "<example>",
        r"(?:for example|for instance|e\.g\.?|i\.e\.?|eg|as in|such as|like)(?: \S+){0,5}",
    ),
    (
        "<telling>",
        r"(?:clarify|confirm (?:<wh>|if|whether)|describe|elaborate|indicate|let me know|mention|name|narrow (?:down|it|your)|rephrase|reword|specify
        |tell me(?: more| the| your| an?)? ?(?:<wh>|if|whether|<object>)|be more (?:clear|precise|specific)
        |(?:add|enter|give|identify|include|list|provide|repeat|say|state|supply|type|write) <object>|(?:confirm|send|share) <strict object>
        |(?:choose|pick|select) (?:<wh>|an?|between|from|one|the))",
    ),
    ("<question>", r"(?:the|this|your)(?: \S+)? (?:message|prompt|question|query|request)"),
    (
        "<told>",
        r"(?:given|identified|included|indicated|mentioned|named|provided|specified|stated|supplied)",
    ),
    // What only looks something up.
    (
        "<offering>",
        r"(?:answer|check|compare|continue|fetch|filter|find|focus|get (?:it|them|the|an?|all|its|more)|help|include|limit|list|look|narrow|read|retrieve
        |search|show|sort|summari[sz]e|use (?:the|an?|all|another|it|only|that|them|this)|view)",
    ),
    ("<cannot>", r"(?:cannot|can't|can not|(?:am|'m|was) (?:not able|unable) to)"),
    // Something to be told: what is particular about a thing, or a thing with an article.
    (
        "<strict object>",
        r"(?:me |us )?(?:(?:<det> )*(?:\S+ ){0,3}?<strict>|(?:<det> )*(?:\S+ )?\S+_\S+)(?:$| <follow>\b.*)",
    ),
    (
        "<object>",
        r"(?:me |us )?(?:(?:(?:<det> )*(?:\S+ ){0,3}?<strict>|(?:<det> )+(?:\S+ ){0,3}?<thing>|(?:<det> )*(?:\S+ )?\S+_\S+)(?:$| <follow>\b.*)
        |(?:it|one|them)(?:$| <follow>\b.*)|that|this|the following(?:$| .*)|(?:<wh>|if|whether)\b.*|(?:more|further|some more|additional)(?:$| .*))",
    ),
    (
        "<follow>",
        r"(?:about|again|as|at|below|by|exactly|e\.g|first|for|from|here|i|i'll|if|in|instead|like|needed|of|on|only|please|required|so|such|that|too|which
        |who|whose|with|within|where|you|you'd|to (?:be|continue|<looking>|help|proceed))",
    ),
    (
        "<looking>",
        r"(?:ask|check|compare|fetch|find|get|have|know|list|look|open|read|search|see|show|specify|summari[sz]e|use|view)",
    ),
    ("<wh>", r"(?:which|what|whose|who|whom|where|when)"),
    (
        "<det>",
        r"(?:the|an?|its|your|their|his|her|some|any|more|one|two|at least|both|either|each|every|exact|full|another|other|this|that|these|those
        |further|additional|all|correct|specific|der|die|das|den|dem|ein|eine|einen|ihre|deine|le|la|les|un|une|votre|el|los|las|su)",
    ),
    ("<info>", r"(?:<strict>|<thing>)"),
    (
        "<strict>",
        r"(?:address(?:es)?|arguments?|context|dates?|details?|fields?|ids?|identifiers?|info|information|keywords?|links?|names?|numbers?|parameters?
        |paths?|periods?|phrases?|quer(?:y|ies)|questions?|ranges?|requests?|specifics|subjects?|terms?|times?|titles?|topics?|uris?|urls?|uuids?
        |values?|words?|(?:airport|area|country|currency|error|language|postal|product|project|status|zip) codes?|(?:issue|project|ticket) keys?)",
    ),
    (
        "<thing>",
        r"(?:amounts?|areas?|articles?|assignees?|authors?|branch(?:es)?|categor(?:y|ies)|chapters?|choices?|cit(?:y|ies)|colou?rs?|columns?
        |coordinates|countr(?:y|ies)|criteria|criterion|currenc(?:y|ies)|customers?|days?|deadlines?|departments?|destinations?|docs?|documents?|entr(?:y|ies)
        |errors?|examples?|expressions?|files?|filters?|folders?|formats?|formulas?|goals?|heights?|hosts?|hostnames?|hours?|incidents?|inputs?|intents?|items?
        |kinds?|languages?|latitude|lengths?|limits?|lines?|locations?|longitude|messages?|months?|options?|orders?|origins?|owners?|pages?|parts?|people
        |persons?|places?|polic(?:y|ies)|ports?|preferences?|prices?|priorit(?:y|ies)|products?|projects?|purposes?|quantit(?:y|ies)|recipients?|records?|regions?
        |releases?|reports?|repos?|repositor(?:y|ies)|rows?|sections?|senders?|servers?|services?|sizes?|sources?|spellings?|states?|status(?:es)?|streets?
        |strings?|symptoms?|tables?|tags?|targets?|tasks?|teams?|text|tickets?|time ?zones?|tools?|types?|units?|users?|usernames?|versions?|weeks?
        |widths?|years?)",
    ),
];

/// A pattern from its template: names replaced, lines joined. Pieces have no blanks but spaces, and the engine is faster if it knows.
pub(super) fn expand(template: &str) -> String {
    let mut pattern = template.to_owned();
    for (name, part) in PARTS {
        pattern = pattern.replace(name, part);
    }
    let joined: String = pattern.split('\n').map(str::trim_start).collect();
    joined.replace(r"\S", "[^ ]")
}
