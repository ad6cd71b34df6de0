//! The jobs that have to go so that the rest stays within the limits. Whoever keeps most gives back first.

use std::collections::HashMap;

use crate::store::JobRetention;

/// What a caller keeps, or one job of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptJobs {
    pub jobs: u64,
    pub artifact_bytes: u64,
    /// The bytes of arguments and results.
    pub record_bytes: u64,
}

/// What each caller keeps above its limits.
#[derive(Debug)]
pub struct Surplus {
    by_caller: HashMap<String, KeptJobs>,
}

impl Surplus {
    pub fn of(kept: &HashMap<String, KeptJobs>, policy: &JobRetention) -> Self {
        let limit = |size: fn(&KeptJobs) -> u64, max| limit(kept.values().map(size).collect(), max);
        let jobs = limit(|kept| kept.jobs, policy.max_jobs);
        let artifact_bytes = limit(|kept| kept.artifact_bytes, policy.max_artifact_bytes);
        let record_bytes = limit(|kept| kept.record_bytes, policy.max_bytes);
        let above = kept.iter().map(|(caller, kept)| {
            let surplus = KeptJobs {
                jobs: kept.jobs.saturating_sub(jobs),
                artifact_bytes: kept.artifact_bytes.saturating_sub(artifact_bytes),
                record_bytes: kept.record_bytes.saturating_sub(record_bytes),
            };
            (caller.clone(), surplus)
        });
        let by_caller = above.filter(|(_, surplus)| *surplus != KeptJobs::default()).collect();
        Self { by_caller }
    }

    /// True if nobody has to give anything back.
    pub fn is_settled(&self) -> bool {
        self.by_caller.is_empty()
    }

    /// Tells whether a job has to go. One that goes, for this or because `is_old`, is taken from what its caller has
    /// to give back.
    pub fn take(&mut self, caller: &str, job: KeptJobs, is_old: bool) -> bool {
        let Some(surplus) = self.by_caller.get_mut(caller) else { return false };
        let helps = |surplus: u64, size: u64| surplus > 0 && size > 0;
        let goes = is_old
            || helps(surplus.jobs, job.jobs)
            || helps(surplus.artifact_bytes, job.artifact_bytes)
            || helps(surplus.record_bytes, job.record_bytes);
        if goes {
            surplus.jobs = surplus.jobs.saturating_sub(job.jobs);
            surplus.artifact_bytes = surplus.artifact_bytes.saturating_sub(job.artifact_bytes);
            surplus.record_bytes = surplus.record_bytes.saturating_sub(job.record_bytes);
            if *surplus == KeptJobs::default() {
                self.by_caller.remove(caller);
            }
        }
        goes
    }
}

/// The most that one caller may keep, so that all together keep no more than `max`: who has less keeps what it has,
/// and the others share the rest equally.
fn limit(mut sizes: Vec<u64>, max: u64) -> u64 {
    sizes.sort_unstable();
    let mut rest = max;
    let mut callers = sizes.len() as u64;
    for size in sizes {
        let share = rest / callers;
        if size > share {
            return share;
        }
        rest -= size;
        callers -= 1;
    }
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_keep_most_share_the_rest() {
        for (sizes, max, expected) in [
            (vec![], 0, u64::MAX),
            (vec![5], 5, u64::MAX),
            (vec![5], 4, 4),
            (vec![1, 9, 5], 15, u64::MAX),
            (vec![1, 9, 5], 14, 8),
            (vec![1, 9, 5], 7, 3),
            (vec![4, 4, 4], 2, 0),
        ] {
            let limit = limit(sizes.clone(), max);
            assert_eq!(limit, expected, "{sizes:?} {max}");
            assert!(sizes.iter().map(|size| (*size).min(limit)).sum::<u64>() <= max);
        }
    }
}
