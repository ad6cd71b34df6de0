//! Encryption of a server: its certificate and key, read as a pair, and the handshake.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use rustls::{
    CertificateError, Error, InconsistentKeys, RootCertStore, ServerConfig,
    client::verify_server_cert_signed_by_trust_anchor,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

/// A connection that was encrypted.
pub use tokio_rustls::server::TlsStream as ServerTlsStream;

/// The largest file of a certificate or a key, in bytes.
const MAX_PEM_BYTES: u64 = 1 << 20;
/// The protocol that the server speaks inside.
const PROTOCOL: &[u8] = b"http/1.1";
/// The first byte of every TLS connection: a record with a handshake in it.
const HANDSHAKE_RECORD: u8 = 22;

/// A certificate with its chain, and its key.
#[derive(Debug, Clone)]
pub struct CertificatePair {
    config: Arc<ServerConfig>,
    /// The seconds from 1970 to when the certificate begins to be valid.
    pub not_before_s: u64,
    /// The seconds from 1970 to when it ends.
    pub not_after_s: u64,
}

/// The reason why a certificate and its key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PairError {
    /// The file and what is wrong with it.
    pub message: String,
    /// The next step.
    pub hint: String,
}

impl PairError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl CertificatePair {
    /// Reads two PEM files: the certificate, followed by those that vouch for it, and its key.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, PairError> {
        let (chain, der) = (read_chain(certificate)?, read_key(key)?);
        let unusable = |error: Error| match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => PairError::new(
                format!(
                    "the key `{}` does not fit the certificate `{}`",
                    key.display(),
                    certificate.display()
                ),
                "name the key that the certificate was made for; in the file of a chain the server's own certificate comes first",
            ),
            Error::General(_) => PairError::new(
                format!("the key `{}` cannot be used: {error}", key.display()),
                "use an RSA key of 2048 to 8192 bits, an ECDSA key (P-256, P-384, P-521) or an Ed25519 key",
            ),
            _ => PairError::new(
                format!("the certificate `{}` cannot be used: {error}", certificate.display()),
                "use an X.509 certificate of version 3",
            ),
        };
        let (not_before_s, not_after_s) = match chain.first() {
            Some(own) => validity(own).map_err(unusable)?,
            None => (0, 0),
        };
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, der)
            .map_err(unusable)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self { config: Arc::new(config), not_before_s, not_after_s })
    }
}

/// The encryption of a server. The pair can be replaced while it runs; connections that are open keep theirs.
#[derive(Debug)]
pub struct ServerTls {
    config: RwLock<Arc<ServerConfig>>,
}

impl ServerTls {
    pub fn new(pair: CertificatePair) -> Self {
        Self { config: RwLock::new(pair.config) }
    }

    /// Uses another pair from the next connection on.
    pub fn replace(&self, pair: CertificatePair) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = pair.config;
    }

    /// True if a connection that begins with this byte may be encrypted.
    pub fn is_handshake(first_byte: u8) -> bool {
        first_byte == HANDSHAKE_RECORD
    }

    /// Agrees with a client that has connected. How long that may take is for the caller to say.
    pub async fn accept<S>(&self, stream: S) -> io::Result<ServerTlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = self.config.read().unwrap_or_else(PoisonError::into_inner).clone();
        TlsAcceptor::from(config).accept(stream).await
    }
}

/// Named, not taken from the process: a test or another library may have set another one.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// The seconds from 1970 between which a certificate is valid. The verifier says when: at the beginning of time no
/// certificate was valid yet, and at its end none is any more.
fn validity(certificate: &CertificateDer<'_>) -> Result<(u64, u64), Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let provider = provider();
    let algorithms = provider.signature_verification_algorithms.all;
    let roots = RootCertStore::empty();
    let judged = |time: Duration| {
        let time = UnixTime::since_unix_epoch(time);
        verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], time, algorithms)
    };
    let not_before = match judged(Duration::ZERO) {
        Err(Error::InvalidCertificate(CertificateError::NotValidYetContext {
            not_before, ..
        })) => not_before.as_secs(),
        _ => 0,
    };
    match judged(Duration::from_secs(u64::MAX)) {
        Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            Ok((not_before, not_after.as_secs()))
        }
        Err(error) => Err(error),
        Ok(()) => Ok((not_before, u64::MAX)),
    }
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, PairError> {
    let pem = PemFile::read(path, "certificate")?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.bytes).collect();
    let chain = chain.map_err(|error| pem.broken(&error))?;
    if !chain.is_empty() {
        return Ok(chain);
    }
    let hint = if pem.has("PRIVATE KEY-----") {
        "it holds a key; name the file of the certificate, which comes first"
    } else if pem.is_der() {
        "it is in DER form; `openssl x509 -inform der -in FILE -out NEWFILE` makes PEM of it"
    } else {
        "a PEM file has a line `-----BEGIN CERTIFICATE-----`"
    };
    Err(pem.refused("there is no certificate in", hint))
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, PairError> {
    let pem = PemFile::read(path, "key")?;
    if pem.has("BEGIN ENCRYPTED PRIVATE KEY") || pem.has("4,ENCRYPTED") {
        let hint = "nobody is there to type the passphrase when a server starts: `openssl pkey -in FILE -out NEWFILE` decrypts it; keep that file readable by its owner alone";
        return Err(pem.refused("the key is encrypted:", hint));
    }
    match PrivateKeyDer::pem_slice_iter(&pem.bytes).next() {
        Some(Ok(key)) => Ok(key),
        Some(Err(error)) => Err(pem.broken(&error)),
        None => {
            let hint = if pem.has("BEGIN CERTIFICATE") {
                "it holds a certificate; name the file of its key"
            } else if pem.is_der() {
                "it is in DER form; `openssl pkey -inform der -in FILE -out NEWFILE` makes PEM of it"
            } else {
                "a PEM file has a line `-----BEGIN PRIVATE KEY-----`, `-----BEGIN RSA PRIVATE KEY-----` or `-----BEGIN EC PRIVATE KEY-----`"
            };
            Err(pem.refused("there is no key in", hint))
        }
    }
}

/// A file that should be PEM.
struct PemFile {
    shown: String,
    bytes: Vec<u8>,
}

impl PemFile {
    fn read(path: &Path, what: &str) -> Result<Self, PairError> {
        let shown = path.display().to_string();
        let mut bytes = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_PEM_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|error| {
            let hint = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "let the user that runs the server read it, and nobody else"
                }
                _ => "name a PEM file that the server can read",
            };
            PairError::new(format!("cannot read the {what} `{shown}`: {error}"), hint)
        })?;
        if bytes.len() as u64 > MAX_PEM_BYTES {
            let message = format!("the {what} `{shown}` is larger than {MAX_PEM_BYTES} bytes");
            return Err(PairError::new(message, "name a PEM file"));
        }
        Ok(Self { shown, bytes })
    }

    fn has(&self, words: &str) -> bool {
        memchr::memmem::find(&self.bytes, words.as_bytes()).is_some()
    }

    /// True if it begins as DER does: with a sequence whose length follows.
    fn is_der(&self) -> bool {
        matches!(self.bytes.first_chunk(), Some([0x30, 0x80..=0x84]))
    }

    fn refused(&self, problem: &str, hint: &str) -> PairError {
        PairError::new(format!("{problem} `{}`", self.shown), hint)
    }

    /// What is wrong is said without quoting the file, which may hold a key.
    fn broken(&self, error: &rustls::pki_types::pem::Error) -> PairError {
        use rustls::pki_types::pem::Error;
        let problem = match error {
            Error::MissingSectionEnd { .. } => "it is cut short",
            Error::Base64Decode(_) => "it is not valid base64",
            _ => "a line that begins a section is broken",
        };
        PairError::new(format!("`{}` is not valid PEM: {problem}", self.shown), "copy it again")
    }
}
