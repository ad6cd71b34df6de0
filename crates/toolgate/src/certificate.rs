//! The certificate of the server and its key: read, judged, and followed while the server runs.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use gate::{Gate, Timestamp};
use guard::net::{CertificatePair, PairError, ServerTls};
use serde_json::json;

use crate::settings::{FileStamp, LoadedSettings, env_file};

/// The interval between two looks at the files.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The days before its end in which a certificate is worth a warning.
const DAYS_OF_WARNING: u64 = 14;

/// The files of a certificate and its key.
#[derive(Debug, Clone)]
pub struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
}

/// Something about a certificate that does not keep it from being used.
#[derive(Debug)]
pub struct CertificateWarning {
    /// The setting, as a JSON pointer.
    pub pointer: &'static str,
    pub message: String,
    /// The next step.
    pub hint: String,
}

impl CertificateFiles {
    /// The files that the settings name; none where the server does not encrypt.
    pub fn of(loaded: &LoadedSettings) -> Option<Self> {
        let tls = loaded.settings.server.tls.as_ref()?;
        Some(Self { certificate: loaded.path(&tls.cert), key: loaded.path(&tls.key) })
    }

    pub fn read(&self) -> Result<CertificatePair, PairError> {
        CertificatePair::read(&self.certificate, &self.key)
    }

    /// What is worth a look. A certificate outside of its time is used all the same: clients say so themselves, and a
    /// server that does not start helps nobody.
    pub fn warnings(&self, pair: &CertificatePair) -> Vec<CertificateWarning> {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut found = Vec::new();
        let shown = self.certificate.display();
        let (begins, ends) = (day(pair.not_before_s), day(pair.not_after_s));
        let soon = Duration::from_hours(24 * DAYS_OF_WARNING).as_secs();
        let message = if pair.not_after_s < now_s {
            Some(format!("the certificate `{shown}` expired on {ends}: clients refuse it"))
        } else if pair.not_before_s > now_s {
            Some(format!(
                "the certificate `{shown}` is valid from {begins} on: clients refuse it until then"
            ))
        } else if pair.not_after_s - now_s < soon {
            Some(format!("the certificate `{shown}` expires on {ends}"))
        } else {
            None
        };
        found.extend(message.map(|message| CertificateWarning {
            pointer: "/server/tls/cert",
            message,
            hint: "put a new one in its place; a running server takes it up".to_owned(),
        }));
        if env_file::is_readable_by_others(&self.key) {
            let key = self.key.display();
            found.push(CertificateWarning {
                pointer: "/server/tls/key",
                message: format!("other users can read the key `{key}`"),
                hint: format!("run `chmod 600 {key}`"),
            });
        }
        found
    }

    fn stamps(&self) -> [Option<FileStamp>; 2] {
        [FileStamp::of(&self.certificate), FileStamp::of(&self.key)]
    }

    fn warn(&self, pair: &CertificatePair) {
        for CertificateWarning { message, hint, .. } in self.warnings(pair) {
            tracing::warn!("{message}; {hint}");
        }
    }
}

/// The certificate in use, and the files that it was read from.
pub struct ServerCertificate {
    files: CertificateFiles,
    seen: [Option<FileStamp>; 2],
    pub tls: Arc<ServerTls>,
}

impl ServerCertificate {
    /// Reads what the settings name; nothing where the server does not encrypt.
    pub fn open(loaded: &LoadedSettings) -> anyhow::Result<Option<Self>> {
        let Some(files) = CertificateFiles::of(loaded) else { return Ok(None) };
        // Before they are read: a write from now on counts as a change.
        let seen = files.stamps();
        let pair = files.read().map_err(|PairError { message, hint }| {
            anyhow::anyhow!("server.tls: {message}; {hint}")
        })?;
        files.warn(&pair);
        Ok(Some(Self { files, seen, tls: Arc::new(ServerTls::new(pair)) }))
    }

    /// Takes up a new pair whole, or keeps the old one, as long as the server runs.
    pub async fn follow(mut self, gate: Arc<Gate>) {
        let mut refused = None;
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let now = self.files.stamps();
            if now == self.seen {
                continue;
            }
            let files = self.files.clone();
            let Ok(read) = tokio::task::spawn_blocking(move || files.read()).await else {
                continue;
            };
            let event = |name, fields| gate.journal().event(gate.clock().now(), name, fields);
            match read {
                Ok(pair) => {
                    let not_after = day(pair.not_after_s);
                    tracing::info!(
                        "the certificate was replaced; the new one expires on {not_after}"
                    );
                    event("certificate_replaced", json!({ "not_after": not_after }));
                    self.files.warn(&pair);
                    self.tls.replace(pair);
                    self.seen = now;
                }
                // One file is written after the other: a pair is broken only if it stays so.
                Err(_) if refused.as_ref() != Some(&now) => refused = Some(now),
                Err(PairError { message, hint }) => {
                    tracing::warn!("{message}; the last certificate stays in use; {hint}");
                    event("certificate_refused", json!({ "error": message }));
                    self.seen = now;
                }
            }
        }
    }
}

/// The day of a time in seconds from 1970.
pub fn day(seconds: u64) -> String {
    let milliseconds = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
    let time = Timestamp(milliseconds).to_string();
    time.split('T').next().unwrap_or_default().to_owned()
}
