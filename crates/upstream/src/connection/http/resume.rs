//! A stream that broke off before its answer is taken up again (legacy era).

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    core::Core,
    reading::Reading,
    refusal::{self, ContentType, of_net},
};
use crate::connection::RequestError;

/// Where a stream broke off.
pub(super) struct Place {
    /// The last event that was seen.
    pub(super) id: String,
    /// How long to wait.
    pub(super) wait: Duration,
    /// When the time of the request is over, if it passes.
    pub(super) deadline: Option<Instant>,
    /// How long that was.
    pub(super) timeout: Duration,
}

/// Waits, and asks for what comes after the last event.
pub(super) async fn take_up(core: Arc<Core>, place: Place) -> Result<Reading, RequestError> {
    let Place { id, wait, deadline, timeout } = place;
    if let Some(deadline) = deadline
        && Instant::now() + wait >= deadline
    {
        tokio::time::sleep_until(deadline).await;
        return Err(refusal::timeout(timeout));
    }
    tokio::time::sleep(wait).await;
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let answer = core.get(Some(&id), left.unwrap_or(timeout)).await;
    let answer = answer.map_err(|error| of_net(error, timeout, core.max_bytes))?;
    let streams = refusal::content_type(&answer.headers) == ContentType::Events;
    if answer.status.is_success() && streams {
        let mut reading = Reading::new(answer.body, core.max_bytes);
        reading.begin_after(&id, wait);
        return Ok(reading);
    }
    let status = answer.status.as_u16();
    answer.body.leave();
    Err(RequestError::Lost(format!(
        "the stream ended before the answer, and cannot be taken up again (status {status})"
    )))
}
