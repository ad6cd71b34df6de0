//! What a call would do, for the person who is asked.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
    time::Duration,
};

use crate::{
    Exchange, Running, Tool,
    steps::{Crossing, input::Checked},
    trim,
};

/// How much of it is kept, in bytes.
const MAX_BYTES: u64 = 65_536;
/// How long a tool may take to show it.
const PATIENCE: Duration = Duration::from_secs(5);

impl Crossing {
    /// Asks the tool what it would do. A tool that cannot say holds up nobody.
    pub(super) async fn preview(&mut self, checked: &mut Checked) -> Option<String> {
        let input = checked.take_input();
        let tool = checked.tool_owned();
        let running = self.running(&tool, input, Exchange::default());
        let shown = tokio::time::timeout(PATIENCE, shown(&tool, &running)).await.ok().flatten();
        checked.give_back(running.input);
        let mut text = visible(&shown?);
        let dropped = trim::text(&mut text, MAX_BYTES);
        if dropped > 0 {
            text.push_str(&format!("\n… and {dropped} more bytes"));
        }
        Some(text)
    }
}

async fn shown(tool: &Tool, running: &Running) -> Option<String> {
    let mut preview = tool.provider.preview(running);
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| preview.as_mut().poll(context)))
            .unwrap_or(Poll::Ready(None))
    })
    .await
}

/// A file may hold what would steer a terminal or turn a line around: a person has to see it, not
/// obey it.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        let steers = matches!(one,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if (one.is_control() && !matches!(one, '\n' | '\t')) || steers {
            shown.extend(one.escape_unicode());
        } else {
            shown.push(one);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_steers_a_terminal_is_shown_and_not_obeyed() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible("\u{1b}[2J"), "\\u{1b}[2J");
        assert_eq!(visible("x\u{202e}y\r"), "x\\u{202e}y\\u{d}");
    }
}
