//! Good and bad bullets, rule by rule.

use serde_json::json;

use super::*;

const PII: &str = "# PII Logging Policy\n- Never log secrets\n- Mask emails\n";
const RETENTION: &str = "# Data Retention Policy\n- Retain logs for 30 days\n- Retain audit events for 180 days\n- Delete on user request where applicable\n";

#[test]
fn whole_lines_are_evidence_however_short() {
    check(PII, "Never log secrets", "Never log secrets", Ok(()));
    check(PII, "Mask emails", "Mask emails", Ok(()));
    check(PII, "Mask emails", "- Mask emails", Ok(()));
    check(PII, "Encrypt all logs", "Encrypt all logs", Err("not found"));
    check("Mask all emails. Keep calm.", "Keep calm", "Keep calm", Ok(()));
    check("Mask all emails now", "Mask emails", "Mask all", Err("fewer than 3 words"));
    check("a) Mask emails\n2. Rotate keys", "Rotate keys", "Rotate keys", Ok(()));
    check("closed", "Closed", "closed", Ok(()));
}

#[test]
fn evidence_is_found_whatever_its_spaces_and_composition() {
    check(
        "Retain  logs\n  for\u{a0}30 days",
        "Retain logs for 30 days",
        "Retain logs for 30 days",
        Ok(()),
    );
    check("Le cafe\u{301} est ouvert", "Le café est ouvert", "café est ouvert", Ok(()));
    check("Le café est ouvert", "Le café est ouvert", "cafe\u{301} est ouvert", Ok(()));
    check("Retain logs for 30 days", "Retain logs", "retain logs for 30 days", Err("not found"));
    check(
        "Re\u{200b}tain logs for 30 days",
        "Retain logs for 30 days",
        "Retain logs for 30 days",
        Ok(()),
    );
}

#[test]
fn the_location_is_that_of_what_is_written() {
    let value = json!({ "a/b": [1, { "c~d": "Ünï  \r\n cafe\u{301} is\u{200b} open now" }] });
    let found = ground(&value, "Café is open", "café is open").unwrap();
    assert_eq!(found.location.pointer, "/a~1b/1/c~0d");
    assert_eq!((found.location.start, found.location.end), (8, 22));
    assert_eq!(found.evidence, "cafe\u{301} is\u{200b} open");
    let found = serde_json::to_string(&found).unwrap();
    assert!(found.starts_with(r#"{"claim":"Café is open","evidence":"#), "{found}");
}

#[test]
fn words_and_numbers_are_not_cut() {
    let cut = Err("cuts a word");
    check("Keep it 130 days long", "Keep it 30 days", "30 days long", cut);
    check("Wait 1.5 days for it", "Wait 5 days", "5 days for it", cut);
    check("It fell -5 days ago", "5 days ago", "5 days ago", cut);
    check("It has 1,000 users now", "It has 1 user", "It has 1", cut);
    check("Keep all the logs", "Keep all log", "Keep all the log", cut);
    check("It grew by 30% today", "It grew by 30", "It grew by 30", cut);
    check("It grew by 30 % today", "It grew by 30", "It grew by 30", cut);
    check("It costs about $30 today", "30 today", "30 today or so", Err("not found"));
    check("It costs about $30 to day", "costs 30 to day", "30 to day", cut);
    check("It is 30.5 degrees", "Water is 30 degrees", "It is 30", cut);
    check("- 5 days of leave", "5 days of leave", "5 days of leave", Ok(()));
    check("See sp-001 for more details", "See 001 for details", "001 for more details", cut);
}

#[test]
fn keys_numbers_and_two_values_are_no_evidence() {
    let value =
        json!({ "delete all the logs": "Keep the audit logs", "n": 42, "next": "for thirty days" });
    for evidence in
        ["delete all the logs", "42", "Keep the audit logs for thirty days", "logs\nfor"]
    {
        let found = ground(&value, "Keep the audit logs", evidence);
        assert_eq!(found, Err(Ungrounded::NotFound), "{evidence}");
    }
}

#[test]
fn a_claim_is_short_and_says_something() {
    let text = "Retain logs for 30 days";
    refuses(text, "", "empty");
    refuses(text, " . ", "empty");
    refuses(text, "it is for the", "says nothing");
    refuses(text, "Retain logs for 30 days a b c d e f g h", "longer than 12 words");
    refuses(text, "Retain\u{200b} logs for 30 days", "invisible");
    refuses(text, "Retain logs \u{202e}for 30 days", "invisible");
    refuses(text, "Retain logs\nfor 30 days", "control");
    refuses(text, "Retаin logs for 30 days", "mixes letters");
    refuses(text, &"word ".repeat(500), "longer than 12 words");
    check(text, "Retain logs", &"word ".repeat(1000), Err("longer than 4000 bytes"));
    check(text, "Retain logs", " \n", Err("empty"));
    check("It is what it is", "It has logs", "It is what", Err("says nothing"));
}

#[test]
fn numbers_must_be_there() {
    let text = "The 1,000 users of team 2 pay 30 percent more since March 3";
    accepts(text, "The 1000 users pay 30% more");
    accepts(text, "Team 2 pay 30% more");
    accepts(text, "Team two pay 30% more");
    refuses(text, "The 1001 users pay 30% more", "`1001`");
    refuses(text, "Team 2 pay 30 more", "`30`");
    refuses(text, "Team 2 pay thirty-one percent more", "`thirty one percent`");
    refuses(text, "Team 2 pay twice", "`twice`");
    accepts("Each seat costs 2.50 USD", "Each seat costs $2.5");
    refuses("Each seat costs 2.50 USD", "Each seat costs €2.5", "`€2.5`");
    refuses("Version 1.000 is out now", "Version 1000 is out", "`1000`");
    accepts("The first release is out", "The 1st release is out");
    refuses("The second release is out", "The first release is out", "`first`");
    refuses("Retain 30-60 days of logs", "Retain 30 days of logs", "`30`");
}

#[test]
fn dates_must_be_there() {
    for text in [
        "The audit is due 2026-11-15",
        "The audit is due on 15 November 2026",
        "The audit is due Nov 15, 2026",
    ] {
        accepts(text, "Audit due 2026-11-15");
        accepts(text, "Audit due 15 November 2026");
        accepts(text, "Audit due Nov. 15");
        refuses(text, "Audit due 2026-11-16", "date");
        refuses(text, "Audit due 15 October 2026", "date");
        refuses(text, "Audit due Nov 15, 2025", "date");
        refuses(text, "Audit due in October", "`October`");
    }
    refuses("Due 03/04/2026 at 10:30", "Due 04/03/2026", "`04/03/2026`");
    refuses("Due 03/04/2026 at 10:30", "Due at 11:30", "`11:30`");
}

#[test]
fn units_must_be_those_of_the_number() {
    refuses("Retain logs for 30 days", "Retain logs for 30 months", "30 months");
    refuses("Retain logs for 30 days, not 12 months", "Never retain logs for 12 days", "12 days");
    refuses("Allow 5 GB per user", "Allow 5 TB per user", "5 TB");
    refuses("Allow 5 GB per user", "Allow 5 users", "5 users");
    refuses("It has 5 admins and 20 users", "It has 5 users", "5 users");
    accepts("Allow 5GB per user", "Allow 5 GB per user");
    accepts("A 30-day trial is offered", "Trial of 30 days offered");
    refuses("Refund within 30 calendar days", "Refund within 30 business days", "30 business");
    accepts("Refund within 30 calendar days", "Refund within 30 days");
}

#[test]
fn numbers_belong_to_what_they_are_said_of() {
    let both = "Retain logs for 30 days\n- Retain audit events for 180 days";
    check(RETENTION, "Retain logs for 30 days", both, Ok(()));
    check(RETENTION, "Retain audit events for 180 days", both, Ok(()));
    check(RETENTION, "Retain logs for 180 days", both, Err("belongs to something other"));
    check(RETENTION, "Logs are retained for 180 days", both, Err("belongs to something other"));
    check(RETENTION, "Audit events are retained for 30 days", both, Err("belongs"));
    let one = "Retain logs for 30 days and audit events for 180 days.";
    accepts(one, "Retain logs for 30 days");
    accepts(one, "Audit events are retained for 180 days");
    accepts(one, "Retain logs for 30 days and audit events for 180 days");
    refuses(one, "Retain logs for 180 days", "belongs");
    refuses(one, "Logs are retained for 180 days", "belongs");
    refuses(one, "Retain logs for 180 days and audit events for 30 days", "belongs");
    let rest = "Severity 1: acknowledge within 15 minutes, update every 30 minutes";
    accepts(rest, "Acknowledge severity 1 within 15 minutes");
    refuses(rest, "Acknowledge severity 1 within 30 minutes", "belongs");
    refuses("30 days for logs, 180 days for audit events", "Logs kept 180 days", "");
}

#[test]
fn names_must_be_there() {
    let text = "Alice Smith of ACME moved api.example.com to PostgreSQL 17 in Berlin";
    accepts(text, "ACME moved api.example.com to PostgreSQL 17");
    accepts(text, "Alice Smith moved it to Berlin");
    refuses(text, "ACME moved api.example.org to PostgreSQL 17", "`api.example.org`");
    refuses(text, "ACME moved api.example.com to MySQL 17", "`MySQL`");
    refuses(text, "Bob Smith moved it to Berlin", "`Bob`");
    refuses(text, "Alice Smith moved it to Munich", "`Munich`");
    refuses("Tell us about the log data", "Tell US about log data", "`US`");
    refuses("Alice approved the request of Bob", "Bob approved the request of Alice", "other way");
    accepts("Alice approved the request of Bob", "The request of Bob was approved by Alice");
    accepts("The policy needs approval by managers", "Requires approval by managers");
}

#[test]
fn a_denial_is_neither_added_nor_lost() {
    let text = "Never log secrets in production. Mask emails in all logs.";
    accepts(text, "Never log secrets");
    accepts(text, "Secrets are never logged in production");
    accepts(text, "Logging secrets is prohibited in production");
    accepts(text, "Mask emails in all logs");
    refuses(text, "Log secrets in production", "leaves it out");
    refuses(text, "Never mask emails in logs", "says it without");
    check(text, "Log secrets in production", "log secrets in production", Err("leaves it out"));
    check(text, "Never log secrets", "log secrets in production", Err("says it without"));
    refuses("Users can't share keys", "Users can share keys", "leaves it out");
    refuses("Users can share keys", "Users can't share keys", "says it without");
    refuses("N\u{435}ver log any secrets", "Log secrets", "leaves it out");
    refuses("Do n\u{200b}ot log any secrets", "Log secrets", "leaves it out");
    refuses("Do \u{ff4e}\u{ff4f}\u{ff54} log any secrets", "Log secrets", "leaves it out");
    refuses("Logs are deleted unless under legal hold", "Logs are deleted", "leaves it out");
    refuses("Debug mode: false for users", "Debug mode for users", "leaves it out");
    accepts("See issue No. 5 for the details", "See issue 5 for details");
    accepts("Keep it for no more than 5 days", "Keep it at most 5 days");
    refuses("Keep it for no more than 5 days", "Keep it at least 5 days", "least");
}

#[test]
fn a_denial_reaches_as_far_as_its_sentence_and_list() {
    let wrapped = "Please never store data of users, e.g. Passwords in\nClear text or their keys.";
    check(wrapped, "Passwords in clear text", "Passwords in\nClear text", Err("leaves it out"));
    let list = "Do not:\n- log the secrets\n- share the keys\n\nMask the emails now";
    check(list, "Log the secrets", "log the secrets", Err("leaves it out"));
    check(list, "Share the keys", "share the keys", Err("leaves it out"));
    check(list, "Do not log secrets", "Do not:\n- log the secrets", Ok(()));
    check(list, "Mask the emails", "Mask the emails now", Ok(()));
    let heading = "## Not allowed\n- Sharing of keys\n## Allowed\n- Sharing of logs";
    check(heading, "Sharing of keys", "Sharing of keys", Err("leaves it out"));
    check(heading, "Sharing of logs", "Sharing of logs", Ok(()));
}

#[test]
fn a_denial_denies_the_same_thing() {
    refuses("Never log secrets and mask emails", "Never mask emails", "denied");
    refuses("Logs are not encrypted but are retained", "Logs are not retained", "denied");
    refuses("Users who do not pay cannot upload", "Users who pay cannot upload", "denied");
    refuses("Users who do not pay can upload", "Users who do not pay cannot upload", "without");
    accepts("Do not log, store or share secrets", "Never share secrets");
    accepts("Log no secrets in tests", "Do not log secrets in tests");
    refuses(
        "The nightly backup job failed on node three",
        "Nightly backup job ran on node three",
        "failed",
    );
    refuses("Use tokens instead of passwords", "Use passwords", "instead");
    refuses("Non-encrypted mail is refused", "Encrypted mail is refused", "denied");
    refuses("Everything but logs is deleted", "Everything is deleted", "leaves it out");
    refuses("All regions other than Asia are covered", "All regions are covered", "leaves");
    refuses("Send no more than 5 mails", "Send more than 5 mails", "more");
    refuses("The API is no longer supported", "The API is supported", "leaves it out");
    refuses("Almost all users agreed", "All users agreed", "Almost");
    refuses("Start: 2026-01-01, end: 2026-02-01", "End: 2026-01-01", "belongs");
    accepts("Rotate credentials quarterly and revoke unused keys", "Rotate credentials quarterly");
    accepts("Use tokens instead of passwords", "Use tokens");
}

#[test]
fn denials_of_other_languages_count() {
    refuses(
        "Geheimnisse werden nicht protokolliert",
        "Geheimnisse werden protokolliert",
        "leaves it out",
    );
    refuses(
        "Es werden keine Geheimnisse protokolliert",
        "Geheimnisse werden protokolliert",
        "leaves it out",
    );
    refuses("Ne partagez jamais les clés", "Partagez les clés", "leaves it out");
    refuses("Il n'est pas permis de partager", "Il est permis de partager", "leaves it out");
    refuses("No comparta nunca las claves", "Comparta las claves", "leaves it out");
    refuses("Partagez les clés", "Ne partagez pas les clés", "without");
    refuses("秘密をログに記録しないでください。", "秘密をログに記録してください", "leaves it out");
    refuses("秘密をログに記録してください。", "秘密をログに記録しないでください", "without");
}

#[test]
fn nothing_goes_further_than_its_evidence() {
    refuses("Retain logs for 30 days", "Retain all logs for 30 days", "`all`");
    refuses("Admins may delete logs", "Only admins may delete logs", "`Only`");
    accepts("Every admin may delete logs", "All admins may delete logs");
    refuses("Users may rotate keys", "Users must rotate keys", "`must`");
    refuses("Users must rotate keys", "Users may rotate keys", "`may`");
    accepts("Rotate the keys every month", "Keys must be rotated every month");
    refuses("Deletes logs after 30 days", "Creates logs after 30 days", "`Creates`");
    refuses("Delete logs after 30 days", "Delete logs before 30 days", "`before`");
    refuses(
        "Encrypted backups are allowed on laptops",
        "Unencrypted backups are allowed on laptops",
        "Unencrypted",
    );
    refuses("Revenue rose sharply in Europe", "Revenue fell sharply in Europe", "`fell`");
}

#[test]
fn what_depends_or_asks_is_not_said() {
    let text = "If the user agrees, data is shared with partners";
    refuses(text, "Data is shared with partners", "leaves that out");
    refuses(text, "Data must be shared with partners", "leaves that out");
    accepts(text, "Data is shared with partners if users agree");
    accepts("Contact the desk if you lose your badge", "Contact the desk for lost badges");
    let text = "Do you log secrets in production? You may ask us.";
    check(text, "Log secrets in production", "log secrets in production", Err("question"));
    refuses("Only admins can delete users", "Users can delete admins", "other way");
    refuses("Few users can delete logs", "Users can delete logs", "`Few`");
    refuses("The limit is 10k requests", "The limit is 10 requests", "`10`");
    refuses("A ≤ 5 ms delay is fine", "A ≥ 5 ms delay is fine", "≥ 5");
}

#[test]
fn most_of_a_claim_must_be_there() {
    accepts("Retain logs for 30 days", "Log retention is 30 days");
    accepts("Retain logs for 30 days", "Keep logs for 30 days");
    refuses("Retain logs for 30 days", "Logs handled by service desk", "less than 60 %");
    refuses("Retain logs for 30 days", "Политика хранения", "");
}

#[test]
fn scripts_without_spaces_are_compared_by_characters() {
    let text = "ログは30日間保存します。監査イベントは180日間保存します。";
    check(text, "ログは30日間保存", "ログは30日間保存します。", Ok(()));
    check(text, "ログは30日間保存", "ログは30日間保存", Ok(()));
    check(text, "ログは31日間保存", "ログは30日間保存します。", Err("`31`"));
    check(text, "ログは30年間保存", "ログは30日間保存します。", Err("30"));
    check(text, "鍵は30日間保存", "ログは30日間保存します。", Err("鍵"));
    check(text, "ログは180日間保存", "ログは30日間保存します。", Err("`180`"));
    check("日志保存三十天。", "日志保存十天", "日志保存三十天。", Err("十"));
}

#[test]
fn units_are_quotes_that_are_found() {
    let value =
        json!({ "a": RETENTION, "b": ["Mask emails. Never\nlog secrets, e.g. keys!", ""], "c": 5 });
    let source = Source::of(&value);
    let units: Vec<&str> = source.units().collect();
    assert_eq!(
        units,
        [
            "Data Retention Policy",
            "Retain logs for 30 days",
            "Retain audit events for 180 days",
            "Delete on user request where applicable",
            "Mask emails.",
            "Never\nlog secrets, e.g. keys!"
        ]
    );
    assert!(!source.is_empty());
    assert!(Source::of(&json!({ "only keys": [1, null, " - "] })).is_empty());
}

#[test]
fn every_place_is_tried() {
    let value = json!(["Never log secrets in tests", "You may log secrets in tests"]);
    let found = ground(&value, "Log secrets in tests", "log secrets in tests").unwrap();
    assert_eq!(found.location.pointer, "/1");
}
