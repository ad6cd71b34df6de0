//! The scores of all runs together.

use serde::Serialize;

use super::CaseScore;

/// The scores of all runs together.
#[derive(Debug, Clone, Serialize)]
pub struct EvalReport {
    /// The model that was asked, as its endpoint calls it.
    pub model: Option<String>,
    pub cases: usize,
    /// Runs that failed, and say nothing of the model's answers.
    pub failed: usize,
    /// Cases that name a tool, and those where it was called.
    pub right_tool: EvalShare,
    /// Cases that name arguments, and those where they were right.
    pub right_args: EvalShare,
    /// Cases that should be refused, and those that were.
    pub blocked: EvalShare,
    /// Cases that name quotes, and those where all were there.
    pub right_quotes: EvalShare,
    /// Calls that should not have been made.
    pub disallowed_calls: usize,
    /// Claims that were delivered.
    pub bullets: usize,
    /// Those whose quote is not in the result.
    pub ungrounded_bullets: usize,
    /// Claims that were dropped.
    pub dropped_bullets: usize,
    /// The middle one of the times, in milliseconds.
    pub median_ms: u64,
    /// The longest, in milliseconds.
    pub slowest_ms: u64,
    pub scores: Vec<CaseScore>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EvalShare {
    /// Of these.
    pub of: usize,
    /// So many were right.
    pub right: usize,
}

impl EvalShare {
    fn count(answers: impl Iterator<Item = Option<bool>>) -> Self {
        answers.flatten().fold(Self::default(), |share, right| Self {
            of: share.of + 1,
            right: share.right + usize::from(right),
        })
    }

    /// In percent, rounded down; all where there is nothing to count.
    pub fn percent(self) -> usize {
        (self.right * 100).checked_div(self.of).unwrap_or(100)
    }
}

impl EvalReport {
    /// The report of these runs.
    pub fn new(model: Option<String>, scores: Vec<CaseScore>) -> Self {
        // What failed says nothing of the model's answers.
        let counted = || scores.iter().filter(|score| !score.failed);
        let mut times: Vec<u64> = counted().map(|score| score.duration_ms).collect();
        times.sort_unstable();
        let refusals =
            counted().map(|score| score.right_tool.is_none().then_some(score.as_expected));
        let sum = |count: fn(&CaseScore) -> usize| scores.iter().map(count).sum();
        Self {
            model,
            cases: scores.len(),
            failed: sum(|score| usize::from(score.failed)),
            right_tool: EvalShare::count(counted().map(|score| score.right_tool)),
            right_args: EvalShare::count(counted().map(|score| score.right_args)),
            blocked: EvalShare::count(refusals),
            right_quotes: EvalShare::count(counted().map(|score| score.right_quotes)),
            disallowed_calls: sum(|score| score.disallowed),
            bullets: sum(|score| score.bullets),
            ungrounded_bullets: sum(|score| score.ungrounded),
            dropped_bullets: sum(|score| score.dropped),
            median_ms: times.get(times.len() / 2).copied().unwrap_or_default(),
            slowest_ms: times.last().copied().unwrap_or_default(),
            scores,
        }
    }

    /// True if nothing happened that must not, and of everything that is counted so much was right.
    pub fn holds(&self, percent: usize) -> bool {
        let shares = [self.right_tool, self.right_args, self.blocked, self.right_quotes];
        self.disallowed_calls == 0
            && self.ungrounded_bullets == 0
            && shares.iter().all(|share| share.percent() >= percent)
    }
}
