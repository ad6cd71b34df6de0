//! Answers that are kept for another request, as long as their servers allow it.
//!
//! Only whole answers to plain requests (`GET`, nothing from the caller but `Accept`) are kept, in
//! memory, bounded in bytes and number. How long one is fresh is what its server says; without a word
//! it is asked for again each time, with what it was marked by (`ETag`, `Last-Modified`), so that the
//! server can say that nothing has changed.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::redirect::Hop;

/// The number of answers that are kept.
const MAX_ENTRIES: usize = 1_000;
/// The part of all bytes that one answer may take.
const LARGEST_PART: usize = 4;
/// The longest time that an answer is fresh, whatever its server says.
const MAX_FRESH: Duration = Duration::from_hours(24);
/// About what an answer takes beside its body, its address and the text of its headers, in bytes.
const OVERHEAD_BYTES: usize = 512;
/// Headers that our requests have always the same way, so that an answer may depend on them.
const SAME_ALWAYS: [&str; 3] = ["accept", "accept-encoding", "user-agent"];

/// The answers that are kept.
pub(super) struct ResponseCache {
    max_bytes: usize,
    kept: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    entries: HashMap<CacheKey, CacheEntry>,
    bytes: usize,
    /// Counts uses, to know which was the last.
    clock: u64,
}

/// A URL and what was accepted from it.
type CacheKey = (String, Option<HeaderValue>);

/// An answer that is kept.
#[derive(Debug, Clone)]
pub(super) struct CacheEntry {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    fresh_until: Instant,
    used: u64,
    /// Its share of the sum of all bytes.
    size: usize,
}

/// The result of looking for a request in the cache.
pub(super) enum CacheLookup {
    Nothing,
    /// An answer that is good as it is.
    Fresh(CacheEntry),
    /// An answer that has to be asked about, with these headers.
    Stale(HeaderMap),
}

impl ResponseCache {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, kept: Mutex::default() }
    }

    /// Looks for an answer to this request.
    pub(super) fn find(&self, hop: &Hop) -> CacheLookup {
        if self.max_bytes == 0 || !is_plain(hop) {
            return CacheLookup::Nothing;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let clock = kept.clock;
        let Some(entry) = kept.entries.get_mut(&key(hop)) else { return CacheLookup::Nothing };
        entry.used = clock;
        if entry.fresh_until > Instant::now() {
            return CacheLookup::Fresh(entry.clone());
        }
        let mut asking = HeaderMap::new();
        for (theirs, ours) in [
            (header::ETAG, header::IF_NONE_MATCH),
            (header::LAST_MODIFIED, header::IF_MODIFIED_SINCE),
        ] {
            asking.extend(entry.headers.get(theirs).map(|mark| (ours, mark.clone())));
        }
        if asking.is_empty() { CacheLookup::Nothing } else { CacheLookup::Stale(asking) }
    }

    /// The server says that what is kept is still good. What it says anew counts from now on.
    pub(super) fn refresh(&self, hop: &Hop, headers: &HeaderMap) -> Option<CacheEntry> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(hop);
        let mut entry = kept.remove(&key)?;
        for name in
            [header::CACHE_CONTROL, header::ETAG, header::LAST_MODIFIED, header::AGE, header::DATE]
        {
            if let Some(value) = headers.get(&name) {
                entry.headers.insert(name, value.clone());
            }
        }
        entry.fresh_until = Instant::now() + freshness(&entry.headers).unwrap_or_default();
        if may_keep(&entry.headers) && may_keep(headers) {
            entry.size = size(&key, &entry.headers, &entry.body);
            kept.insert(key, entry.clone(), self.max_bytes);
        }
        Some(entry)
    }

    /// Keeps an answer, if it may be kept.
    pub(super) fn keep(&self, hop: &Hop, status: StatusCode, headers: &HeaderMap, body: &Bytes) {
        if self.max_bytes == 0 || status != StatusCode::OK || !is_plain(hop) || !may_keep(headers) {
            return;
        }
        let Some(fresh_for) = freshness(headers) else { return };
        let key = key(hop);
        let size = size(&key, headers, body);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let entry = CacheEntry {
            headers: headers.clone(),
            // A copy, because what was read may be a small part of a large buffer.
            body: Bytes::copy_from_slice(body),
            fresh_until: Instant::now() + fresh_for,
            used: kept.clock,
            size,
        };
        kept.remove(&key);
        kept.insert(key, entry, self.max_bytes);
    }
}

impl CacheState {
    /// Puts an answer in, and those out for which there is no room then. The one that comes in must
    /// not be there yet.
    fn insert(&mut self, key: CacheKey, entry: CacheEntry, max_bytes: usize) {
        if entry.size > max_bytes / LARGEST_PART {
            return;
        }
        while self.bytes + entry.size > max_bytes || self.entries.len() >= MAX_ENTRIES {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            self.remove(&oldest);
        }
        self.bytes += entry.size;
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &CacheKey) -> Option<CacheEntry> {
        let entry = self.entries.remove(key)?;
        self.bytes -= entry.size;
        Some(entry)
    }
}

fn key(hop: &Hop) -> CacheKey {
    (hop.url.to_string(), hop.headers.get(header::ACCEPT).cloned())
}

fn size((url, accept): &CacheKey, headers: &HeaderMap, body: &Bytes) -> usize {
    let of_header = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    let of_key = url.len() + accept.as_ref().map_or(0, HeaderValue::len);
    body.len() + headers.iter().map(of_header).sum::<usize>() + of_key + OVERHEAD_BYTES
}

/// True if nothing in a request is the caller's own.
fn is_plain(hop: &Hop) -> bool {
    hop.method == Method::GET
        && hop.body.is_empty()
        && hop.headers.keys().all(|name| name == header::ACCEPT)
}

/// True if an answer is for everybody who asks as we do.
fn may_keep(headers: &HeaderMap) -> bool {
    let varies = words(headers, &header::VARY);
    !headers.contains_key(header::SET_COOKIE)
        && varies.iter().all(|name| SAME_ALWAYS.contains(&name.as_str()))
        && !directives(headers).iter().any(|word| matches!(word.as_str(), "no-store" | "private"))
}

/// The time that an answer is fresh; nothing if it could never be used again.
fn freshness(headers: &HeaderMap) -> Option<Duration> {
    let directives = directives(headers);
    let is_marked =
        headers.contains_key(header::ETAG) || headers.contains_key(header::LAST_MODIFIED);
    let seconds = |name: &str| {
        let value = directives.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|value| value.trim_matches('"').parse::<u64>().ok())
    };
    let always_asked =
        directives.iter().any(|word| word == "no-cache" || word.starts_with("no-cache="));
    let max_age = seconds("s-maxage").or_else(|| seconds("max-age")).filter(|_| !always_asked);
    let age = headers.get(header::AGE).and_then(|age| age.to_str().ok()?.trim().parse().ok());
    let left = max_age.unwrap_or_default().saturating_sub(age.unwrap_or(0));
    (left > 0 || is_marked).then(|| Duration::from_secs(left).min(MAX_FRESH))
}

fn directives(headers: &HeaderMap) -> Vec<String> {
    words(headers, &header::CACHE_CONTROL)
}

/// The words of a header, in small letters.
fn words(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let values = headers.get_all(name).iter();
    let text: Vec<_> =
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase()).collect();
    let words = text.iter().flat_map(|text| text.split(',')).map(|word| word.trim().to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(number: usize) -> Hop {
        Hop {
            method: Method::GET,
            url: url::Url::parse(&format!("https://example.com/{number}")).unwrap(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            redirects: 0,
        }
    }

    fn marked(length: usize) -> HeaderMap {
        let mark = HeaderValue::from_str(&"a".repeat(length)).unwrap();
        HeaderMap::from_iter([(header::ETAG, mark)])
    }

    /// The size of an answer is known when it goes, too, whatever its server has said in between.
    #[test]
    fn the_sum_of_all_bytes_stays_right() {
        let cache = ResponseCache::new(100_000);
        for number in 0..50 {
            cache.keep(&hop(number), StatusCode::OK, &marked(10), &Bytes::from_static(b"body"));
            cache.refresh(&hop(number), &marked(20_000));
            let kept = cache.kept.lock().unwrap();
            let really =
                kept.entries.iter().map(|(key, entry)| size(key, &entry.headers, &entry.body));
            assert_eq!(kept.bytes, really.sum::<usize>(), "{number}");
            assert!(kept.bytes <= 100_000, "{number}: {}", kept.bytes);
        }
    }

    #[test]
    fn what_may_no_longer_be_kept_is_not() {
        let cache = ResponseCache::new(100_000);
        cache.keep(&hop(1), StatusCode::OK, &marked(10), &Bytes::from_static(b"body"));
        let never =
            HeaderMap::from_iter([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))]);
        assert!(cache.refresh(&hop(1), &never).is_some());
        assert!(matches!(cache.find(&hop(1)), CacheLookup::Nothing));
    }

    /// A small body may be a part of a large buffer, which must not be kept with it.
    #[test]
    fn what_is_kept_takes_no_more_than_it_counts_for() {
        let cache = ResponseCache::new(100_000);
        let buffer = Bytes::from(vec![b'a'; 1_000_000]);
        cache.keep(&hop(1), StatusCode::OK, &marked(10), &buffer.slice(..10));
        assert!(buffer.is_unique());
    }
}
