//! The preview of a call, for the person who is asked to approve it.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;

use crate::{
    CallChannel,
    steps::{CallState, check_input::CheckedInput},
    truncate,
    visible_text::visible,
};

/// The largest preview that is kept, in bytes.
const MAX_BYTES: u64 = 65_536;
/// The time that a tool may take to show it.
const TIMEOUT: Duration = Duration::from_secs(5);

impl CallState {
    /// Asks the tool what it would do. A tool that cannot say holds up nobody.
    pub(super) async fn preview(&mut self, checked: &mut CheckedInput) -> Option<String> {
        let input = checked.take_input();
        let tool = checked.tool_owned();
        let running = self.running(&tool, input, CallChannel::default());
        let preview = AssertUnwindSafe(async { tool.provider.preview(&running).await });
        let shown = tokio::time::timeout(TIMEOUT, preview.catch_unwind()).await;
        checked.give_back(running.input);
        let shown = shown.ok().and_then(Result::ok).flatten()?;
        Some(truncate::shown(visible(&shown), MAX_BYTES))
    }
}
