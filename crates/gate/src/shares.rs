//! Places that several callers want: each has its share of them.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use arc_swap::ArcSwap;

/// A caller takes one more place while it holds fewer than so many times those that are free. One alone so
/// gets four of five, two that want everything get the same, and for whoever comes there is a place: of few
/// places, too, the last one is for somebody who has none.
const HELD_FOR_EACH_FREE: usize = 4;

/// So many places, and who holds them.
#[derive(Debug)]
pub struct Shares {
    places: usize,
    taken: AtomicUsize,
    /// The callers that share them. Without a second one there is nothing to share.
    held: ArcSwap<HashMap<Arc<str>, Arc<AtomicUsize>>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Share {
    shares: Arc<Shares>,
    held: Option<Arc<AtomicUsize>>,
}

impl Shares {
    /// Places for these callers. Callers that are not named take what is free.
    pub fn new(places: usize, callers: &[Arc<str>]) -> Arc<Self> {
        let shares = Self { places, taken: AtomicUsize::new(0), held: ArcSwap::default() };
        shares.set_callers(callers);
        Arc::new(shares)
    }

    /// From now on these callers share them. Those that did before keep what they hold.
    pub fn set_callers(&self, callers: &[Arc<str>]) {
        let callers = if callers.len() > 1 { callers } else { &[] };
        let before = self.held.load();
        let held = |name: &Arc<str>| (name.clone(), before.get(name).cloned().unwrap_or_default());
        self.held.store(Arc::new(callers.iter().map(held).collect()));
    }

    /// Takes a place, if one is free and the caller has not had its share.
    pub fn try_take(self: &Arc<Self>, caller: &str) -> Option<Share> {
        let (share, taken, held) = self.count(caller);
        let free = self.places.saturating_sub(taken);
        let is_last = |held| free == 1 && held > 0;
        let is_fair = |held| held < free * HELD_FOR_EACH_FREE && !is_last(held);
        (free > 0 && held.is_none_or(is_fair)).then_some(share)
    }

    /// True if the caller may have one more place as soon as one is free.
    pub fn is_within_share(&self, caller: &str) -> bool {
        let free = self.places.saturating_sub(self.taken.load(Ordering::SeqCst));
        self.held(caller).is_none_or(|held| held < free.max(1) * HELD_FOR_EACH_FREE)
    }

    /// The places that the caller holds; none if they are not counted for it.
    pub fn held(&self, caller: &str) -> Option<usize> {
        self.held.load().get(caller).map(|held| held.load(Ordering::SeqCst))
    }

    /// The places that are taken.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    /// Takes a place for somebody who was promised one.
    pub fn take(self: &Arc<Self>, caller: &str) -> Share {
        self.count(caller).0
    }

    /// Takes a place: what was taken before, and of that by this caller.
    fn count(self: &Arc<Self>, caller: &str) -> (Share, usize, Option<usize>) {
        let held = self.held.load().get(caller).cloned();
        let before = held.as_ref().map(|held| held.fetch_add(1, Ordering::SeqCst));
        let taken = self.taken.fetch_add(1, Ordering::SeqCst);
        (Share { shares: self.clone(), held }, taken, before)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.taken.fetch_sub(1, Ordering::SeqCst);
        if let Some(held) = &self.held {
            held.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(shares: &Arc<Shares>, caller: &str) -> Vec<Share> {
        std::iter::from_fn(|| shares.try_take(caller)).collect()
    }

    fn names(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().map(|name| Arc::from(*name)).collect()
    }

    #[test]
    fn one_caller_leaves_a_place_for_the_next() {
        let shares = Shares::new(64, &names(&["a", "b", "c"]));
        let mut first = take_all(&shares, "a");
        assert_eq!(first.len(), 52);
        let second = take_all(&shares, "b");
        assert_eq!(second.len(), 10);
        assert!(!take_all(&shares, "c").is_empty());
        // As its calls end, the first gives way to the others.
        first.truncate(20);
        assert!(take_all(&shares, "b").len() > 10);
    }

    #[test]
    fn whoever_is_alone_or_not_named_takes_all() {
        let alone = Shares::new(3, &names(&["a"]));
        assert_eq!(take_all(&alone, "a").len(), 3);
        let shares = Shares::new(3, &names(&["a", "b"]));
        let held = take_all(&shares, "operator");
        assert_eq!(held.len(), 3);
        assert!(shares.try_take("a").is_none());
        drop(held);
        assert!(shares.try_take("a").is_some());
        // A promise is kept, and counted.
        let _more: Vec<_> = (0..4).map(|_| shares.take("a")).collect();
        assert!(shares.try_take("b").is_none());
    }

    #[test]
    fn a_caller_that_comes_later_has_its_share_and_the_others_keep_what_they_hold() {
        let shares = Shares::new(10, &names(&["a"]));
        let alone = take_all(&shares, "a");
        assert_eq!((alone.len(), shares.held("a")), (10, None));
        drop(alone);
        shares.set_callers(&names(&["a", "b"]));
        let first = take_all(&shares, "a");
        assert_eq!((first.len(), shares.held("a")), (8, Some(8)));
        shares.set_callers(&names(&["a", "b", "c"]));
        assert_eq!(shares.held("a"), Some(8));
        assert!(shares.try_take("a").is_none() && shares.try_take("c").is_some());
        shares.set_callers(&names(&["b", "c"]));
        drop(first);
        assert!(shares.try_take("a").is_some(), "a caller that is not named takes what is free");
    }

    #[test]
    fn a_single_place_is_taken_by_whoever_comes_first() {
        let shares = Shares::new(1, &names(&["a", "b"]));
        assert_eq!(take_all(&shares, "a").len(), 1);
        assert_eq!(take_all(&shares, "b").len(), 1);
    }

    #[test]
    fn of_few_places_the_last_is_for_somebody_who_has_none() {
        for places in 2..=5 {
            let shares = Shares::new(places, &names(&["a", "b"]));
            let first = take_all(&shares, "a");
            assert_eq!((first.len(), shares.taken()), (places - 1, places - 1));
            assert_eq!(take_all(&shares, "b").len(), 1);
        }
    }
}
