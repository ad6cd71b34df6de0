//! `robots.txt` (RFC 9309): what a site asks of those who fetch by themselves.

mod file;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::StatusCode;
use url::Url;

use super::{NetError, Reason};
use file::File;

/// How we are called in such files.
const PRODUCT: &str = "toolgate";
/// The largest file that is read, in bytes. The RFC asks for half of it.
pub(super) const MAX_FILE_BYTES: usize = 1_048_576;
/// How long a file is believed, and how long its absence.
const KEPT_FOR: Duration = Duration::from_hours(24);
/// How long a site that could not be asked is left alone.
const UNREACHABLE_FOR: Duration = Duration::from_mins(5);
/// How many sites are remembered.
const MAX_SITES: usize = 256;

/// What sites have asked for.
#[derive(Default)]
pub(super) struct Robots {
    sites: Mutex<HashMap<String, Site>>,
}

struct Site {
    until: Instant,
    file: Arc<File>,
}

impl Robots {
    /// What is remembered of the site of this URL.
    pub(super) fn known(&self, url: &Url) -> Option<Arc<File>> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let site = sites.get(&origin(url)).filter(|site| site.until > Instant::now())?;
        Some(site.file.clone())
    }

    /// Remembers what a site answered: the status and the bytes of its file, if it answered.
    pub(super) fn learn(&self, url: &Url, answer: Option<(StatusCode, &[u8])>) -> Arc<File> {
        let (file, kept_for) = match answer {
            Some((status, bytes)) if status.is_success() => {
                (File::parse(&String::from_utf8_lossy(bytes), PRODUCT), KEPT_FOR)
            }
            // It has none, or does not show it: nothing is asked of us.
            Some((status, _)) if !status.is_server_error() => (File::allow_all(), KEPT_FOR),
            _ => (File::refuse_all(), UNREACHABLE_FOR),
        };
        let file = Arc::new(file);
        let now = Instant::now();
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.len() >= MAX_SITES {
            sites.retain(|_, site| site.until > now);
        }
        if sites.len() >= MAX_SITES {
            let first = sites.iter().min_by_key(|(_, site)| site.until);
            if let Some(origin) = first.map(|(origin, _)| origin.clone()) {
                sites.remove(&origin);
            }
        }
        sites.insert(origin(url), Site { until: now + kept_for, file: file.clone() });
        file
    }
}

/// Where the file of a site is.
pub(super) fn address(url: &Url) -> Option<Url> {
    url.join("/robots.txt").ok()
}

/// Says whether the file lets us fetch.
pub(super) fn check(file: &File, url: &Url) -> Result<(), NetError> {
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    if file.allows(&path) {
        return Ok(());
    }
    let message = "the robots.txt of the site asks not to fetch this";
    Err(NetError::new(Reason::Robots, message))
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
