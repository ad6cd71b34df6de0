//! What a call would do, for the person who is asked.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
    time::Duration,
};

use crate::{
    CallChannel, RunningCall, Tool,
    approvals::visible,
    steps::{CallState, input::Checked},
    trim,
};

/// How much of it is kept, in bytes.
const MAX_BYTES: u64 = 65_536;
/// How long a tool may take to show it.
const PATIENCE: Duration = Duration::from_secs(5);

impl CallState {
    /// Asks the tool what it would do. A tool that cannot say holds up nobody.
    pub(super) async fn preview(&mut self, checked: &mut Checked) -> Option<String> {
        let input = checked.take_input();
        let tool = checked.tool_owned();
        let running = self.running(&tool, input, CallChannel::default());
        let shown = tokio::time::timeout(PATIENCE, shown(&tool, &running)).await.ok().flatten();
        checked.give_back(running.input);
        Some(trim::shown(visible(&shown?), MAX_BYTES))
    }
}

async fn shown(tool: &Tool, running: &RunningCall) -> Option<String> {
    let preview = catch_unwind(AssertUnwindSafe(|| tool.provider.preview(running)));
    let mut preview = preview.ok()?;
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| preview.as_mut().poll(context)))
            .unwrap_or(Poll::Ready(None))
    })
    .await
}
