//! The lists themselves: words in small letters, with spaces between them where they are many.

/// Words that every text has. None of them denies, goes far or has an opposite.
pub(super) const STOPS: &str = "
a an the this that these those there here it its it's is are was were be been being am i'm isn
do does did doing done have has had having will would shall should can could may might must
of to in on at by for from with about into onto upon as and or if then than so such too very also
i you he she we they me him her us them my your his our their mine yours ours theirs who whom whose
which what when where why how own same other another some somewhat just even still yet already
out off via per etc again further during through while because between among against along
across though although however therefore thus hence well now shall let lets get gets got one's
says said say states stated mentions mentioned mention according being itself himself herself themselves ourselves yourself please
e.g i.e z.b d.h a.m p.m
der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird werden
wurde wurden worden hat haben hatte hatten im am zu zum zur von vom mit für auf aus bei nach über unter sich
er sie es wir ihr ich als auch wie so dass wenn ob noch schon nur mehr durch an um man kann können
muss müssen soll sollen sollte sollten darf dürfen
le la les un une des du de et ou est sont était ont a ce cet cette ces dans par pour sur avec au aux
en il elle ils elles on nous vous se sa son ses leur leurs qui que quoi dont où si être avoir doit
doivent peut peuvent d l s c j m t qu jusqu
el los las lo del al y o e u es son fue era ha han con por para como su sus se que más este esta
estos estas eso ser estar debe deben puede pueden
il gli i uno della dello dei delle di da nel nella sul sulla che è sono ed anche
";

/// Words that a claim may begin with though its evidence does not: verbs that only say that
/// something is so or is asked for.
pub(super) const OPENERS: &str = "
requires require required needs need mandates applies apply includes include contains contain
covers cover describes describe states state specifies specify defines define provides provide
lists list mentions mention notes note explains explain shows show indicates indicate reports report
runs run returns return costs cost study paper
ensure ensures use uses make makes keep keeps follow follows set sets
document policy page ticket version release entry article section result source text content title summary
overview users people employees staff customers everyone
das dokument richtlinie seite document politique página documento
";

/// A full stop behind one of these ends no sentence.
pub(super) const ABBREVIATIONS: &str = "
e.g i.e eg ie etc mr mrs ms dr prof st sr jr vs approx inc ltd co corp dept est fig no nos vol ed al
cf resp incl excl max min sec jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri
z.b d.h u.a bzw ca nr abs evtl ggf usw sog inkl vgl p.ej sra m mme mlle p.ex env art u.s u.k
";

/// They deny what stands behind them.
pub(super) const DENY_BEHIND: &str = "
not never without cannot can't nor neither unless except excepting dont cant wont doesnt isnt arent
wasnt werent didnt mustnt shouldnt couldnt wouldnt hasnt havent hadnt hardly barely rarely seldom
scarcely ain't nope
nicht nie niemals ohne weder außer ausser ausgenommen
pas jamais sans ne n ni sauf excepté hormis
nunca jamás sin tampoco excepto salvo
non mai senza eccetto tranne né
niet nooit zonder behalve não sem inte aldrig utan ikke aldri uden uten
";

/// They deny their noun.
pub(super) const DENY_NOUN: &str = "
no none nothing nobody nowhere noone
nichts niemand nirgends rien nadie nada niente nessuno
";

/// How other such words begin.
pub(super) const DENY_NOUN_STARTS: &[&str] =
    &["kein", "aucun", "ningun", "ningún", "nessun", "geen", "nenhum"];

/// They deny the sentence that they stand in.
pub(super) const DENY_SENTENCE: &str = "
false untrue deny denies denied denying ban bans banned banning falsch faux falso illegal unlawful
impermissible don'ts donts
";

/// How other such words begin.
pub(super) const DENY_SENTENCE_STARTS: &[&str] = &[
    "forbid", "forbad", "prohibit", "disallow", "refus", "avoid", "refrain", "verboten", "verbiet",
    "untersag", "vermeid", "interdi", "évite", "prohíb", "eviter", "vietat",
];

/// Behind words that begin so, something is not so.
pub(super) const FAIL_BEHIND_STARTS: &[&str] = &[
    "few",
    "almost",
    "nearly",
    "partial",
    "partly",
    "attempt",
    "tried",
    "propos",
    "alleged",
    "instead",
    "rather",
    "prevent",
    "lack",
    "stop",
    "missing",
    "absent",
    "anstatt",
    "statt",
    "verhinder",
];

/// Beside words that begin so, something is not so.
pub(super) const FAIL_AROUND_STARTS: &[&str] = &[
    "fail",
    "reject",
    "block",
    "revok",
    "cancel",
    "expire",
    "deprecat",
    "abort",
    "denial",
    "fehlgeschlag",
    "échou",
    "échec",
    "fallid",
    "fallo",
    "fallido",
    "rechaz",
    "abgelehnt",
    "rejet",
];

/// A denial does not reach past these.
pub(super) const BREAKS: &str = "
but however though although while whereas instead until unless except and then because since
aber sondern jedoch und mais cependant et pero sino y ma però
";

/// Words that go far, in groups of the same meaning.
pub(super) const ABSOLUTES: &[&str] = &[
    "all every each any everyone everybody everything anyone anybody anything entire entirely whole
     completely fully alle allen aller alles jede jeder jedes jeden jedem sämtliche tous toutes tout
     toute chaque todos todas todo toda cada tutti tutte ogni",
    "always ever forever permanently immer stets toujours siempre sempre",
    "only solely exclusively nur seulement uniquement solo sólo solamente únicamente soltanto",
    "most mostly majority meisten plupart mayoría",
    "both beide beiden ambos ambas",
    "immediately instantly sofort immédiatement inmediatamente",
    "exactly precisely genau exactement exactamente",
    "best worst",
];

/// Words that say what is done or that have an opposite, in groups of about the same meaning. One
/// in a claim must have one of its group in the evidence; and there it counts as the same word.
pub(super) const CONTRASTS: &[&str] = &[
    "least minimum min more over above exceed greater longer larger bigger mindestens minimal minimo mínimo",
    "maximum max less fewer under below within shorter smaller höchstens maximal máximo",
    "before prior until till vor bis avant antes",
    "after following since afterwards nach après después tras",
    "increase rise grow raise higher rose grew increased growth",
    "decrease fall drop reduce lower decline fell reduction cut shrink",
    "enable activate enabled",
    "disable deactivate disabled",
    "open opened reopen",
    "close closed resolve resolved",
    "allow permit permitted",
    "succeed success successful successfully passed",
    "fail failure failed",
    "accept approve approved approval grant",
    "reject rejected decline refuse deny",
    "start begin began launch started",
    "stop end finish finished complete completed terminate",
    "add create created insert",
    "delete remove erase purge destroy wipe deletion removal",
    "retain keep store save preserve retention kept stored storage archive",
    "share disclose publish forward distribute",
    "send sent transmit",
    "mask redact obfuscate anonymize pseudonymize masking",
    "encrypt encryption",
    "decrypt decryption",
    "update change modify edit amend",
    "public publicly",
    "private privately",
    "internal internally",
    "external externally",
    "voluntary optional",
    "high",
    "low",
    "critical severe",
    "medium moderate",
    "early earlier earliest",
    "late later latest",
    "first",
    "last final",
    "buy purchase bought purchased",
    "sell sold sale",
    "block blocked",
    "unblock unblocked",
    "lock locked",
    "unlock unlocked",
    "install installed",
    "uninstall uninstalled",
    "upload uploaded",
    "download downloaded",
    "upgrade upgraded",
    "downgrade downgraded",
    "import imported",
    "export exported",
    "backup",
    "restore restored recover recovered recovery",
    "escalate escalated escalation",
    "rotate rotated rotation",
    "revoke revoked revocation",
    "notify notified notification inform informed",
    "review reviewed audit audited",
    "read view",
    "write written wrote",
    "hire hired",
    "win won",
    "lose lost",
    "true",
    "pay paid payment",
    "make made",
    "build built",
    "lead led",
    "daily",
    "weekly",
    "monthly",
    "yearly annual annually",
    "hourly",
    "quarterly",
    "male",
    "female",
    "north",
    "south",
    "east",
    "west",
    "left",
    "right",
    "beginnt beginnen begonnen startet commence commencer empieza empezar comienza inizia",
    "endet enden beendet termine terminer finit termina terminar acaba finaliza finisce",
    "steigt steigen gestiegen erhöht augmente augmenter augmenté aumenta aumentar aumentó",
    "sinkt sinken gesunken gesenkt diminue diminuer diminué baisse disminuye disminuyó baja cala",
    "geöffnet offen ouvert ouverte abierto abierta aperto aperta",
    "geschlossen fermé fermée cerrado cerrada chiuso chiusa",
    "aufbewahren aufbewahrt speichern gespeichert aufbewahrung",
    "löschen gelöscht löschung",
    "conserver conservé conservés conservées conservation",
    "supprimer supprimé supprimés suppression",
    "conservar conservan conserva retener",
    "eliminar eliminan elimina borrar",
];

/// Words of which one may stand in the place of another, in groups.
pub(super) const SYNONYMS: &[&str] = &[
    "require need demand necessary required needed",
    "happen occur",
    "use utilize employ apply",
    "show display indicate",
    "get receive obtain",
    "contain include comprise",
    "permit allow authorize authorise",
    "fix resolve repair solve",
    "about approximately roughly around",
    "begin start commence",
    "people persons individuals",
    "error failure fault",
    "staff employees personnel",
    "available accessible",
    "quick fast rapid",
    "big large",
    "benötigen brauchen erfordern",
];

/// Those of the words above that say nothing by themselves.
pub(super) const RELATIONS: &[&str] = &[
    "least",
    "more",
    "over",
    "above",
    "greater",
    "longer",
    "larger",
    "bigger",
    "mindestens",
    "less",
    "fewer",
    "under",
    "below",
    "within",
    "shorter",
    "smaller",
    "höchstens",
    "before",
    "prior",
    "until",
    "till",
    "vor",
    "bis",
    "avant",
    "antes",
    "after",
    "following",
    "since",
    "afterwards",
    "nach",
    "après",
    "después",
    "tras",
    "higher",
    "lower",
    "early",
    "earlier",
    "late",
    "later",
];

/// What is said depends on what stands behind one of these.
pub(super) const CONDITIONS: &[&str] = &[
    "if", "when", "whenever", "where", "unless", "after", "once", "upon", "until", "provided",
    "assuming", "case", "wenn", "falls", "sofern", "bei", "si", "quand", "cuando",
];

/// What stands behind one of these is taken out of what is said, or is all that is left of it.
pub(super) const EXCEPTIONS: &[&str] = &[
    "only",
    "solely",
    "exclusively",
    "unless",
    "except",
    "excepting",
    "without",
    "nur",
    "außer",
    "ausser",
    "ausgenommen",
    "ohne",
    "seulement",
    "uniquement",
    "sauf",
    "excepté",
    "hormis",
    "sans",
    "solo",
    "sólo",
    "solamente",
    "únicamente",
    "excepto",
    "salvo",
    "sin",
    "soltanto",
    "eccetto",
    "tranne",
    "senza",
];

/// German words that no other of these languages has.
pub(super) const GERMAN: &[&str] = &[
    "der",
    "das",
    "und",
    "ist",
    "sind",
    "wird",
    "werden",
    "nicht",
    "für",
    "mit",
    "auf",
    "bei",
    "zu",
    "zum",
    "zur",
    "von",
    "vom",
    "oder",
    "keine",
    "einen",
    "einer",
    "eines",
    "dem",
    "den",
    "müssen",
    "dürfen",
    "nach",
    "innerhalb",
];
