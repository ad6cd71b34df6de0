//! Tells times of a recording from times that a text is about: an agenda, a timetable.

use super::timestamp::CueTime;

/// A recording begins with its first seconds.
const FIRST_SECONDS: u64 = 10;
/// So many times must there be of a recording that does not.
const ENOUGH_LATE: usize = 5;
/// Its captions follow each other as fast as people speak, in seconds.
const MAX_GAP_SECONDS: u64 = 60;
/// Plans are made in steps of minutes: `9:30`, `9:45`. By chance few times are.
const ROUND: u64 = 5;

/// The times of one form, in the order of the text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimeSeries {
    pub count: usize,
    first: Option<CueTime>,
    last: u64,
    /// True if one comes before the one before it, or is of another shape.
    is_mixed: bool,
    is_round: bool,
    longest_gap: u64,
}

impl TimeSeries {
    /// Takes the next time in.
    pub(super) fn add(&mut self, time: CueTime) {
        self.count += 1;
        self.is_round = (self.count == 1 || self.is_round) && time.seconds.is_multiple_of(ROUND);
        if let Some(first) = self.first {
            self.is_mixed |= time.seconds < self.last || first.is_precise != time.is_precise;
            self.longest_gap = self.longest_gap.max(time.seconds.saturating_sub(self.last));
        } else {
            self.first = Some(time);
        }
        self.last = time.seconds;
    }

    /// True if these are times of one kind that never go back.
    pub(super) fn is_even(&self) -> bool {
        self.count > 0 && !self.is_mixed
    }

    /// True if they begin where a recording does.
    pub(super) fn begins_early(&self) -> bool {
        self.first.is_some_and(|first| first.seconds <= FIRST_SECONDS)
    }

    /// True if they have what no plan has: hours, minutes and seconds, or parts of a second.
    pub(super) fn is_precise(&self) -> bool {
        self.first.is_some_and(|first| first.is_precise)
    }

    /// True if they are part of a recording, although they do not begin where one does.
    pub(super) fn is_dense(&self) -> bool {
        self.count >= ENOUGH_LATE && !self.is_round && self.longest_gap <= MAX_GAP_SECONDS
    }
}
