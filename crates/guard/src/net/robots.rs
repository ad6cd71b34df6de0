//! `robots.txt` (RFC 9309): what a site asks of those who fetch by themselves.

mod file;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use url::Url;

use super::{HttpResponse, NetError, NetErrorReason};
use file::RobotsFile;

/// Our name in such files.
const PRODUCT: &str = "toolgate";
/// The largest file that is read, in bytes. The RFC asks for half of it.
pub(super) const MAX_FILE_BYTES: usize = 1_048_576;
/// The time that a file is believed, and the time that its absence is.
const KEPT_FOR: Duration = Duration::from_hours(24);
/// The time that a site that could not be asked is left alone.
const UNREACHABLE_FOR: Duration = Duration::from_mins(5);
/// The number of sites that are remembered.
const MAX_SITES: usize = 256;
/// The largest sum of their rules, in bytes.
const MAX_KEPT_BYTES: usize = 16_777_216;
/// The work that is done where calls are answered: so many bytes of a file, or as much work with its
/// rules as comparing so many bytes. The rest is done elsewhere.
const LITTLE_BYTES: usize = 65_536;

/// The `robots.txt` files of the sites that were asked lately.
#[derive(Default)]
pub(super) struct Robots {
    sites: Mutex<HashMap<String, RobotsSite>>,
}

struct RobotsSite {
    until: Instant,
    file: Arc<RobotsFile>,
}

impl Robots {
    /// The file of the site of this URL, if it is remembered.
    pub(super) fn known(&self, url: &Url) -> Option<Arc<RobotsFile>> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let site = sites.get(&origin(url)).filter(|site| site.until > Instant::now())?;
        Some(site.file.clone())
    }

    /// Remembers what a site answered: its file, or why there is none.
    pub(super) async fn learn(
        &self,
        url: &Url,
        answer: Result<HttpResponse, NetError>,
    ) -> Arc<RobotsFile> {
        let (file, kept_for) = match answer {
            Ok(answer) if answer.status.is_success() => (parsed(answer.body).await, KEPT_FOR),
            // It has none, or does not show it: nothing is asked of us.
            Ok(answer) if !answer.status.is_server_error() => (RobotsFile::allow_all(), KEPT_FOR),
            Ok(answer) => {
                let why = format!("status {}", answer.status.as_u16());
                (RobotsFile::refuse_all(why), UNREACHABLE_FOR)
            }
            Err(error) => (RobotsFile::refuse_all(error.message), UNREACHABLE_FOR),
        };
        let file = Arc::new(file);
        let now = Instant::now();
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.retain(|_, site| site.until > now);
        sites.insert(origin(url), RobotsSite { until: now + kept_for, file: file.clone() });
        while sites.len() > MAX_SITES || bytes(&sites) > MAX_KEPT_BYTES {
            let first = sites.iter().min_by_key(|(_, site)| site.until);
            let Some(first) = first.map(|(origin, _)| origin.clone()) else { break };
            sites.remove(&first);
        }
        file
    }
}

fn bytes(sites: &HashMap<String, RobotsSite>) -> usize {
    sites.values().map(|site| site.file.bytes()).sum()
}

async fn parsed(body: Bytes) -> RobotsFile {
    let parse = |body: &[u8]| RobotsFile::parse(&String::from_utf8_lossy(body), PRODUCT);
    if body.len() <= LITTLE_BYTES {
        return parse(&body);
    }
    let parsed = tokio::task::spawn_blocking(move || parse(&body)).await;
    parsed.unwrap_or_else(|error| RobotsFile::refuse_all(error.to_string()))
}

/// Where the file of a site is.
pub(super) fn address(url: &Url) -> Option<Url> {
    url.join("/robots.txt").ok()
}

/// True if a site cannot be reached at all, so that it makes no difference what is fetched from it.
pub(super) fn is_out_of_reach(error: &NetError) -> bool {
    let of_the_host = matches!(
        error.reason,
        NetErrorReason::PrivateAddr
            | NetErrorReason::NotResolved
            | NetErrorReason::Connect
            | NetErrorReason::Tls
    );
    of_the_host && !error.on_redirect()
}

/// Says whether the file lets us fetch.
pub(super) async fn check(file: Arc<RobotsFile>, url: &Url) -> Result<(), NetError> {
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let message = match file.unread() {
        Some(why) => {
            format!("the robots.txt of the site cannot be read ({why}), so it is left alone")
        }
        None => "the robots.txt of the site asks not to fetch this".to_owned(),
    };
    let allows = if file.rules().saturating_mul(path.len()) <= LITTLE_BYTES {
        file.allows(&path)
    } else {
        // A thread that is not there lets nobody in.
        tokio::task::spawn_blocking(move || file.allows(&path)).await.unwrap_or(false)
    };
    if allows { Ok(()) } else { Err(NetError::new(NetErrorReason::Robots, message)) }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, StatusCode};

    use super::*;

    /// Many sites with much to say do not take more room than there is.
    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let robots = Robots::default();
        let rules: String =
            (0..10_000).map(|n| format!("Disallow: /{n}{}\n", "\u{e9}".repeat(40))).collect();
        for number in 0..20 {
            let url = Url::parse(&format!("https://h{number}.example/")).unwrap();
            let answer = HttpResponse {
                status: StatusCode::OK,
                headers: HeaderMap::new(),
                url: url.clone(),
                body: format!("User-agent: *\n{rules}").into(),
                wire_bytes: 0,
                redirects: 0,
                from_cache: false,
            };
            robots.learn(&url, Ok(answer)).await;
            assert!(bytes(&robots.sites.lock().unwrap()) <= MAX_KEPT_BYTES);
            assert!(robots.known(&url).is_some());
        }
    }
}
