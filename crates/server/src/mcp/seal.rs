//! What a client carries from one request to the next, sealed: whatever it sends back is
//! ours, was given to this caller for this very request, and is young.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use gate::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::Sha256;

/// How many states that one caller used are remembered until they expire. Whoever uses more
/// can bring an old one of its own again; others lose nothing by it.
const MAX_USED: usize = 10_000;

/// What a state is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bound {
    /// Who was given it.
    pub caller: String,
    /// The method and what it names.
    pub target: String,
    /// The hash of the arguments.
    pub arguments: String,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(flatten)]
    bound: Bound,
    /// Milliseconds since 1970.
    expires: i64,
    /// Makes every state another, so that each can be used once.
    nonce: String,
    /// The questions that are open.
    asked: Vec<String>,
    /// What was replied so far, as JSON text: however deep it is, it is read as it was.
    replies: String,
}

/// Makes and opens states.
pub(crate) struct Seal {
    keyed: Hmac<Sha256>,
    lifetime: Duration,
    /// By caller.
    used: Mutex<HashMap<String, Used>>,
}

/// The states that a caller has used, oldest first.
#[derive(Default)]
struct Used {
    nonces: HashSet<String>,
    order: VecDeque<(i64, String)>,
}

impl Used {
    /// Remembers a state; false if it was used before.
    fn insert(&mut self, nonce: &str, expires: i64, now: i64) -> bool {
        let full = |used: &Self| used.order.len() >= MAX_USED;
        while self.order.front().is_some_and(|(until, _)| *until <= now) || full(self) {
            let Some((_, old)) = self.order.pop_front() else { break };
            self.nonces.remove(&old);
        }
        let new = self.nonces.insert(nonce.to_owned());
        if new {
            self.order.push_back((expires, nonce.to_owned()));
        }
        new
    }
}

/// Why a state is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Not ours, or changed.
    Broken,
    /// Given to somebody else or for something else.
    Foreign,
    /// Too old.
    Expired,
    /// It did its work already.
    Used,
}

impl Refused {
    pub(crate) fn message(&self) -> &'static str {
        match self {
            Refused::Broken => "requestState is not one that this server made",
            Refused::Foreign => "requestState belongs to another request",
            Refused::Expired => "requestState has expired; start again without it",
            Refused::Used => "requestState was used already; start again without it",
        }
    }
}

/// A state that is being used.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The questions that were open when it was made.
    pub asked: Vec<String>,
    /// What was replied before.
    pub replies: Map<String, Value>,
    /// Its name, to give it back.
    pub nonce: String,
}

impl Seal {
    pub(crate) fn new(key: [u8; 32], lifetime: Duration) -> Self {
        // HMAC fills a key up with zeros to a block of its hash.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(&key);
        Self { keyed: Hmac::new(&block.into()), lifetime, used: Mutex::default() }
    }

    /// What was asked and replied so far, for the client to carry.
    pub(crate) fn close(
        &self,
        bound: Bound,
        asked: Vec<String>,
        replies: &Map<String, Value>,
        now: Timestamp,
    ) -> String {
        let lifetime = i64::try_from(self.lifetime.as_millis()).unwrap_or(i64::MAX);
        let expires = now.0.saturating_add(lifetime);
        let replies = serde_json::to_string(replies).unwrap_or_default();
        let sealed = Sealed { bound, expires, nonce: gate::ulid(now), asked, replies };
        let body = serde_json::to_vec(&sealed).unwrap_or_default();
        let tag = self.mac(&body).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&body), URL_SAFE_NO_PAD.encode(tag))
    }

    /// Opens what a client brought back. It can be used once, unless it is given back.
    pub(crate) fn open(
        &self,
        state: &str,
        bound: &Bound,
        now: Timestamp,
    ) -> Result<Opened, Refused> {
        let (body, tag) = state.split_once('.').ok_or(Refused::Broken)?;
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| Refused::Broken);
        let (body, tag) = (decode(body)?, decode(tag)?);
        self.mac(&body).verify_slice(&tag).map_err(|_| Refused::Broken)?;
        let sealed: Sealed = serde_json::from_slice(&body).map_err(|_| Refused::Broken)?;
        let replies = serde_json::from_str(&sealed.replies).map_err(|_| Refused::Broken)?;
        if sealed.bound != *bound {
            return Err(Refused::Foreign);
        }
        if sealed.expires <= now.0 {
            return Err(Refused::Expired);
        }
        let mut used = self.lock();
        let of_caller = used.entry(bound.caller.clone()).or_default();
        if !of_caller.insert(&sealed.nonce, sealed.expires, now.0) {
            return Err(Refused::Used);
        }
        Ok(Opened { asked: sealed.asked, replies, nonce: sealed.nonce })
    }

    /// The state did nothing yet, and may be used again.
    pub(crate) fn give_back(&self, caller: &str, nonce: &str) {
        if let Some(used) = self.lock().get_mut(caller)
            && used.nonces.remove(nonce)
        {
            used.order.retain(|(_, known)| known != nonce);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Used>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        mac.update(body);
        mac
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bound(caller: &str, target: &str) -> Bound {
        Bound { caller: caller.into(), target: target.into(), arguments: "a".into() }
    }

    #[test]
    fn a_state_is_good_for_its_request_once_and_not_for_long() {
        let seal = Seal::new([7; 32], Duration::from_mins(1));
        let (mine, now) = (bound("ada", "tools/call x"), Timestamp(1_000));
        let replies = json!({ "name": { "action": "accept" } }).as_object().unwrap().clone();
        let state = seal.close(mine.clone(), vec!["name".into()], &replies, now);
        let refused = |state: &str, bound: &Bound, at| seal.open(state, bound, at).err();
        assert_eq!(refused(&state, &bound("bob", "tools/call x"), now), Some(Refused::Foreign));
        assert_eq!(refused(&state, &bound("ada", "tools/call y"), now), Some(Refused::Foreign));
        assert_eq!(refused(&state, &mine, Timestamp(61_001)), Some(Refused::Expired));
        let opened = seal.open(&state, &mine, now).unwrap();
        assert_eq!(opened.replies, replies);
        assert_eq!(refused(&state, &mine, now), Some(Refused::Used));
        seal.give_back("ada", &opened.nonce);
        assert_eq!(refused(&state, &mine, now), None);
    }

    #[test]
    fn whoever_uses_many_states_forgets_its_own_alone() {
        let seal = Seal::new([7; 32], Duration::from_mins(1));
        let (ada, bob, now) = (bound("ada", "x"), bound("bob", "x"), Timestamp(1_000));
        let state = |bound: &Bound| seal.close(bound.clone(), Vec::new(), &Map::new(), now);
        let of_bob = state(&bob);
        seal.open(&of_bob, &bob, now).unwrap();
        for _ in 0..=MAX_USED {
            seal.open(&state(&ada), &ada, now).unwrap();
        }
        assert_eq!(seal.lock()["ada"].nonces.len(), MAX_USED);
        assert_eq!(seal.open(&of_bob, &bob, now).unwrap_err(), Refused::Used);
        // What has expired is forgotten.
        let later = Timestamp(62_000);
        let fresh = seal.close(ada.clone(), Vec::new(), &Map::new(), later);
        seal.open(&fresh, &ada, later).unwrap();
        assert_eq!(seal.lock()["ada"].nonces.len(), 1);
    }

    #[test]
    fn what_was_changed_is_not_ours() {
        let seal = Seal::new([7; 32], Duration::from_mins(1));
        let (mine, now) = (bound("ada", "x"), Timestamp(1_000));
        let state = seal.close(mine.clone(), Vec::new(), &Map::new(), now);
        let other = Seal::new([8; 32], Duration::from_mins(1)).close(
            mine.clone(),
            Vec::new(),
            &Map::new(),
            now,
        );
        for broken in [
            String::new(),
            ".".into(),
            state.replacen('e', "f", 1),
            format!("{state}A"),
            state.split_once('.').unwrap().0.to_owned(),
            other,
        ] {
            assert_eq!(seal.open(&broken, &mine, now).err(), Some(Refused::Broken), "{broken}");
        }
    }
}
