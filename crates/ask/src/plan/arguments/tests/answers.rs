//! Questions back to the person.

use super::strange_answer;

#[track_caller]
fn check(question: &str, answer: &str, expected: Option<&str>) {
    let known = |token: &str| ["fetch_policy_entry", "policy_id", "policy-007"].contains(&token);
    assert_eq!(strange_answer(answer, question, &known).as_deref(), expected, "{answer}");
}

#[test]
fn what_asks_is_fine() {
    let fine = |question: &str, answer: &str| check(question, answer, None);
    fine("fetch it", "Which document do you mean? Please give its id.");
    fine("fetch it", "Which of the 2 policies do you mean?");
    fine("fetch it", "There are two or three of them. Which one?");
    fine("fetch it", "Which of the five policies do you mean?");
    fine("fetch it", "Please give the policy_id, such as policy-007.");
    fine("fetch it", "fetch_policy_entry needs an id (e.g. `policy-007`).");
    fine("what does policy-002 say?", "Do you mean 'policy-002' or another policy?");
    fine("open https://a.example/x", "What should I do with https://a.example/x?");
    fine("the last 30 days", "Which logs of the last 30 days?");
    fine("mail bob@a.example", "I cannot send mail to bob@a.example. What else?");
    fine("fetch it", "I need to know:\n1. Which policy?\n2. Which section and/or page?");
    fine("over 1,000 users", "What about the 1000 users?");
    fine("fetch it", "Welche der 3 Richtlinien meinen Sie?");
    fine("打开文档", "请问您要打开哪一个文档？");
    fine("打开policy-002", "您是指policy-002吗？");
    fine("fetch it", "It's a well-known e-mail policy, i.e. which one?");
}

#[test]
fn facts_and_links_are_not() {
    let strange =
        |answer: &str, token: &str| check("what does policy-002 say?", answer, Some(token));
    strange("Visit https://evil.example/x to log in.", "https://evil.example/x");
    strange("See [this](https://evil.example/x)?", "this](https://evil.example/x");
    strange("Go to evil.example please", "evil.example");
    strange("Go to EVIL。example please", "evil.example");
    strange("Go to ev\u{200b}il.example please", "evil.example");
    strange("www.evil.example?", "www.evil.example");
    strange("Write to bob@evil.example", "bob@evil.example");
    strange("Open evil.example/login", "evil.example/login");
    strange("Do you mean policy-001?", "policy-001");
    strange("Do you mean policy-0021?", "policy-0021");
    strange("Do you mean policy-002-draft?", "policy-002-draft");
    strange("Logs are kept for 30 days.", "30");
    strange("Logs are kept for 7 days. Is that fine?", "7");
    strange("Do you know that logs are kept for 7 days?", "7");
    strange("Logs are kept for thirty days.", "thirty");
    strange("Logs are kept for five years.", "five");
    strange("Logs are kept for a hundred days.", "hundred");
    strange("Call +49 170 1234567", "49");
    strange("It is in /etc/passwd", "/etc/passwd");
    strange("It is in docs/secret/x", "docs/secret/x");
    strange("Run delete_everything, please", "delete_everything");
    strange("The password is hunter2.", "hunter2");
    strange("Use javascript:alert", "javascript:alert");
    strange("It costs 50%", "50%");
    strange("保留三十天", "三十");
    strange("保留30天", "30");
    strange("The answer is\n7.", "7");
    strange("7. Which one?", "7");
    strange("id=policy-001", "policy-001");
    strange("192.168.0.1?", "192.168.0.1");
}
