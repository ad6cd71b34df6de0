//! Names for things that happen: sortable by time, not to be guessed.

use std::{fmt, sync::Arc};

use rand::Rng;
use serde::{Serialize, Serializer};

use crate::Timestamp;

/// Crockford's base 32: no I, L, O or U.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// 48 bits of milliseconds and 80 random bits, five bits a digit.
const ULID_LENGTH: usize = 26;
/// The digits that come before the random ones.
const TIME_DIGITS: usize = 10;

/// A ULID: sorts by time, and its 80 random bits cannot be guessed.
pub fn ulid(time: Timestamp) -> String {
    prefixed("", time)
}

/// True if a text has the form of one.
pub fn is_ulid(text: &str) -> bool {
    is_prefixed("", text)
}

/// A word and a ULID, printed at one go: every request needs one.
pub(crate) fn prefixed(prefix: &str, time: Timestamp) -> String {
    let mut random = rand::rng();
    let random = (u128::from(random.next_u64()) << 32) | u128::from(random.next_u32());
    let time = u128::try_from(time.0.max(0)).unwrap_or(0) & 0xFFFF_FFFF_FFFF;
    let bits = (time << 80) | (random & ((1 << 80) - 1));
    let mut text = String::with_capacity(prefix.len() + ULID_LENGTH);
    text.push_str(prefix);
    for digit in (0..ULID_LENGTH).rev() {
        text.push(DIGITS[usize::try_from((bits >> (digit * 5)) & 31).unwrap_or(0)] as char);
    }
    text
}

/// True if a text is this word and a ULID.
pub(crate) fn is_prefixed(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|digits| {
        digits.len() == ULID_LENGTH && digits.bytes().all(|one| DIGITS.contains(&one))
    })
}

/// The name of a job: `job_` and a ULID.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(Box<str>);

impl JobId {
    pub fn new(time: Timestamp) -> Self {
        Self(prefixed("job_", time).into())
    }

    /// The name if it has the form of one. Anything else names no job, and never
    /// gets as far as a file name or a query.
    pub fn parse(text: &str) -> Option<Self> {
        is_prefixed("job_", text).then(|| Self(text.into()))
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The time that it was made at, which its first digits say.
    pub fn time(&self) -> Timestamp {
        let value = |digit| DIGITS.iter().position(|one| *one == digit).unwrap_or(0);
        let digits = self.0.bytes().skip("job_".len()).take(TIME_DIGITS);
        Timestamp(
            digits.fold(0, |time, digit| (time << 5) | i64::try_from(value(digit)).unwrap_or(0)),
        )
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for JobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The id of a request. It is ours; the caller's own name for the request stands beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId {
    own: Arc<str>,
    of_caller: Option<Arc<str>>,
}

impl RequestId {
    /// The longest name that is taken from a caller, in bytes.
    pub const MAX_BYTES: usize = 128;

    pub fn new(time: Timestamp) -> Self {
        Self { own: prefixed("req_", time).into(), of_caller: None }
    }

    /// The id of a request that was recorded.
    pub(crate) fn recorded(text: &str) -> Self {
        Self { own: text.into(), of_caller: None }
    }

    /// The same with the caller's own name for the request, if that can stand in a header and a log.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        let name = name.trim();
        let is_good = !name.is_empty()
            && name.len() <= Self::MAX_BYTES
            && name.bytes().all(|byte| byte.is_ascii_graphic());
        self.of_caller = is_good.then(|| name.into());
        self
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.own
    }

    /// The caller's own name for the request.
    pub fn of_caller(&self) -> Option<&str> {
        self.of_caller.as_deref()
    }

    /// The name by which the caller is told of the request: its own where it gave one.
    pub fn for_caller(&self) -> &str {
        self.of_caller().unwrap_or(&self.own)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.own)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_ids_sort_by_time_and_read_back() {
        let earlier = JobId::new(Timestamp(1_000));
        let later = JobId::new(Timestamp(2_000));
        assert!(earlier < later);
        let now = Timestamp(1_795_138_530_123);
        assert_eq!((earlier.time(), JobId::new(now).time()), (Timestamp(1_000), now));
        assert_eq!(JobId::parse(earlier.as_str()), Some(earlier));
        for wrong in ["job_9999", "job_", "", "job_../../../../../../../../etc", "JOB_0"] {
            assert_eq!(JobId::parse(wrong), None, "{wrong}");
        }
    }
}
