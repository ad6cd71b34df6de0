//! Encryption: whom we trust, and the handshake.

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{net::TcpStream, sync::OnceCell};
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Host;

use super::{NetError, NetErrorReason};

/// The set-up of encryption. Certificates are read when the first connection needs them.
#[derive(Clone)]
pub(super) struct Tls {
    extra_ca: Arc<[PathBuf]>,
    config: Arc<OnceCell<Arc<ClientConfig>>>,
}

impl Tls {
    pub(super) fn new(extra_ca: &[PathBuf]) -> Self {
        Self { extra_ca: extra_ca.into(), config: Arc::default() }
    }

    /// Agrees with the other side, who must prove to be this host.
    pub(super) async fn handshake(
        &self,
        host: &Host<String>,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, NetError> {
        let name = match host {
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                ServerName::try_from(name.to_owned()).map_err(|_| {
                    NetError::new(NetErrorReason::Tls, "the name cannot have a certificate")
                })?
            }
            Host::Ipv4(address) => ServerName::from(std::net::IpAddr::from(*address)),
            Host::Ipv6(address) => ServerName::from(std::net::IpAddr::from(*address)),
        };
        let connector = TlsConnector::from(self.config().await?);
        connector.connect(name, stream).await.map_err(|error| failure(&error))
    }

    async fn config(&self) -> Result<Arc<ClientConfig>, NetError> {
        let made = self.config.get_or_try_init(|| async {
            let extra_ca = self.extra_ca.clone();
            tokio::task::spawn_blocking(move || make(&extra_ca))
                .await
                .map_err(|error| unreadable(error.to_string()))?
        });
        made.await.cloned()
    }
}

fn make(extra_ca: &[PathBuf]) -> Result<Arc<ClientConfig>, NetError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "some certificates of this machine cannot be read");
    }
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for path in extra_ca {
        add(&mut roots, path).map_err(|error| {
            let message = "a file of certificates that the settings name (extra_ca) cannot be used";
            NetError::new(NetErrorReason::Tls, message)
                .for_operator(format!("{}: {error}", path.display()))
        })?;
    }
    // Named, not taken from the process: a test or another library may have set another one.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unreadable(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Adds the certificates of a file, of which there must be some: it may be the wrong one.
fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let before = roots.len();
    for certificate in CertificateDer::pem_file_iter(path)? {
        roots.add(certificate?)?;
    }
    if roots.len() > before { Ok(()) } else { Err("there is no certificate in it".into()) }
}

fn unreadable(operator: String) -> NetError {
    NetError::new(NetErrorReason::Tls, "the certificates of this machine cannot be read")
        .for_operator(operator)
}

fn failure(error: &std::io::Error) -> NetError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let message = match inner {
        Some(rustls::Error::InvalidCertificate(problem)) => {
            format!("the certificate is not trusted ({problem})")
        }
        Some(rustls::Error::InvalidMessage(_)) => "the server does not speak TLS".to_owned(),
        _ => "no encrypted connection".to_owned(),
    };
    NetError::new(NetErrorReason::Tls, message).for_operator(error)
}
