//! `requestState`: what a modern client carries from one round of a request to the next, sealed. It is
//! ours, was given to this caller for this very request, and has not expired.

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

/// The number of used states of one caller that are remembered until they expire. Whoever uses more
/// can bring an old one of its own again; others lose nothing by it.
const MAX_USED: usize = 10_000;

/// The request that a state belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateBinding {
    /// The caller who was given it.
    pub caller: String,
    /// The method and what it names.
    pub target: String,
    /// The hash of the arguments.
    pub arguments: String,
}

#[derive(Serialize, Deserialize)]
struct SealedState {
    #[serde(flatten)]
    bound: StateBinding,
    /// Milliseconds since 1970.
    expires: i64,
    /// Makes every state another, so that each can be used once.
    nonce: String,
    /// The input requests that are open.
    asked: Vec<String>,
    /// The input responses so far, as JSON text: however deep it is, it is read as it was.
    responses: String,
}

/// Makes and opens states.
pub(crate) struct StateSealer {
    keyed: Hmac<Sha256>,
    lifetime: Duration,
    /// By caller.
    used: Mutex<HashMap<String, UsedStates>>,
}

/// The states that a caller has used, oldest first.
#[derive(Default)]
struct UsedStates {
    nonces: HashSet<String>,
    order: VecDeque<(i64, String)>,
}

impl UsedStates {
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

/// The reason why a state is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StateRejection {
    /// Not ours, or changed.
    Broken,
    /// Given to somebody else or for something else.
    Foreign,
    /// Too old.
    Expired,
    /// It did its work already.
    Used,
}

impl StateRejection {
    pub(crate) fn message(&self) -> &'static str {
        match self {
            StateRejection::Broken => "requestState is not one that this server made",
            StateRejection::Foreign => "requestState belongs to another request",
            StateRejection::Expired => "requestState has expired; start again without it",
            StateRejection::Used => "requestState was already used; start again without it",
        }
    }
}

/// A state that is being used.
#[derive(Debug)]
pub(crate) struct OpenedState {
    /// The input requests that were open when it was made.
    pub asked: Vec<String>,
    /// The input responses before.
    pub responses: Map<String, Value>,
    /// Its name, to give it back.
    pub nonce: String,
}

impl StateSealer {
    pub(crate) fn new(key: [u8; 32], lifetime: Duration) -> Self {
        // HMAC fills a key up with zeros to a block of its hash.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(&key);
        Self { keyed: Hmac::new(&block.into()), lifetime, used: Mutex::default() }
    }

    /// The input requests and responses so far, for the client to carry.
    pub(crate) fn close(
        &self,
        bound: StateBinding,
        asked: Vec<String>,
        responses: &Map<String, Value>,
        now: Timestamp,
    ) -> String {
        let lifetime = i64::try_from(self.lifetime.as_millis()).unwrap_or(i64::MAX);
        let expires = now.0.saturating_add(lifetime);
        let responses = serde_json::to_string(responses).unwrap_or_default();
        let sealed = SealedState { bound, expires, nonce: gate::ulid(now), asked, responses };
        let body = serde_json::to_vec(&sealed).unwrap_or_default();
        let tag = self.mac(&body).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&body), URL_SAFE_NO_PAD.encode(tag))
    }

    /// Opens what a client brought back. It can be used once, unless it is given back.
    pub(crate) fn open(
        &self,
        state: &str,
        bound: &StateBinding,
        now: Timestamp,
    ) -> Result<OpenedState, StateRejection> {
        let (body, tag) = state.split_once('.').ok_or(StateRejection::Broken)?;
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| StateRejection::Broken);
        let (body, tag) = (decode(body)?, decode(tag)?);
        self.mac(&body).verify_slice(&tag).map_err(|_| StateRejection::Broken)?;
        let sealed: SealedState =
            serde_json::from_slice(&body).map_err(|_| StateRejection::Broken)?;
        let responses =
            serde_json::from_str(&sealed.responses).map_err(|_| StateRejection::Broken)?;
        if sealed.bound != *bound {
            return Err(StateRejection::Foreign);
        }
        if sealed.expires <= now.0 {
            return Err(StateRejection::Expired);
        }
        let mut used = self.lock();
        let of_caller = used.entry(bound.caller.clone()).or_default();
        if !of_caller.insert(&sealed.nonce, sealed.expires, now.0) {
            return Err(StateRejection::Used);
        }
        Ok(OpenedState { asked: sealed.asked, responses, nonce: sealed.nonce })
    }

    /// The state did nothing yet, and may be used again.
    pub(crate) fn give_back(&self, caller: &str, nonce: &str) {
        if let Some(used) = self.lock().get_mut(caller)
            && used.nonces.remove(nonce)
        {
            used.order.retain(|(_, known)| known != nonce);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, UsedStates>> {
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

    fn bound(caller: &str, target: &str) -> StateBinding {
        StateBinding { caller: caller.into(), target: target.into(), arguments: "a".into() }
    }

    #[test]
    fn a_state_is_good_for_its_request_once_and_not_for_long() {
        let seal = StateSealer::new([7; 32], Duration::from_mins(1));
        let (mine, now) = (bound("ada", "tools/call x"), Timestamp(1_000));
        let responses = json!({ "name": { "action": "accept" } }).as_object().unwrap().clone();
        let state = seal.close(mine.clone(), vec!["name".into()], &responses, now);
        let refused = |state: &str, bound: &StateBinding, at| seal.open(state, bound, at).err();
        assert_eq!(
            refused(&state, &bound("bob", "tools/call x"), now),
            Some(StateRejection::Foreign)
        );
        assert_eq!(
            refused(&state, &bound("ada", "tools/call y"), now),
            Some(StateRejection::Foreign)
        );
        assert_eq!(refused(&state, &mine, Timestamp(61_001)), Some(StateRejection::Expired));
        let opened = seal.open(&state, &mine, now).unwrap();
        assert_eq!(opened.responses, responses);
        assert_eq!(refused(&state, &mine, now), Some(StateRejection::Used));
        seal.give_back("ada", &opened.nonce);
        assert_eq!(refused(&state, &mine, now), None);
    }

    #[test]
    fn whoever_uses_many_states_forgets_its_own_alone() {
        let seal = StateSealer::new([7; 32], Duration::from_mins(1));
        let (ada, bob, now) = (bound("ada", "x"), bound("bob", "x"), Timestamp(1_000));
        let state = |bound: &StateBinding| seal.close(bound.clone(), Vec::new(), &Map::new(), now);
        let of_bob = state(&bob);
        seal.open(&of_bob, &bob, now).unwrap();
        for _ in 0..=MAX_USED {
            seal.open(&state(&ada), &ada, now).unwrap();
        }
        assert_eq!(seal.lock()["ada"].nonces.len(), MAX_USED);
        assert_eq!(seal.open(&of_bob, &bob, now).unwrap_err(), StateRejection::Used);
        // What has expired is forgotten.
        let later = Timestamp(62_000);
        let fresh = seal.close(ada.clone(), Vec::new(), &Map::new(), later);
        seal.open(&fresh, &ada, later).unwrap();
        assert_eq!(seal.lock()["ada"].nonces.len(), 1);
    }

    #[test]
    fn what_was_changed_is_not_ours() {
        let seal = StateSealer::new([7; 32], Duration::from_mins(1));
        let (mine, now) = (bound("ada", "x"), Timestamp(1_000));
        let state = seal.close(mine.clone(), Vec::new(), &Map::new(), now);
        let other = StateSealer::new([8; 32], Duration::from_mins(1)).close(
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
            assert_eq!(
                seal.open(&broken, &mine, now).err(),
                Some(StateRejection::Broken),
                "{broken}"
            );
        }
    }
}
