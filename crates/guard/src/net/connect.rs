//! Connecting: resolve, judge every address, connect to one that was judged.

use std::{
    future::Future,
    net::{IpAddr, SocketAddr},
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, sync::Semaphore, time::timeout_at};
use tower_service::Service;
use url::Host;

use super::{
    HttpClientSettings, NetError, NetErrorReason, NetRules, Resolve, address, name, rules,
    stand_in,
    stream::{NetStream, NetTransport},
    tls::Tls,
};

/// The time that an address has before the next one is tried beside it (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);
/// The number of addresses of a name that are tried. All are judged.
const MAX_TRIED: usize = 8;

/// The number of connections of a client that may be open and kept for another request. Further ones are
/// closed after their first: hosts are many, and what this process can hold open is not.
const MAX_KEPT: usize = 256;

/// Makes the connections of one client.
#[derive(Clone)]
pub(super) struct Connector {
    rules: Arc<NetRules>,
    resolver: Arc<dyn Resolve>,
    tls: Tls,
    timeout: Duration,
    stand_in: Option<Arc<Path>>,
    permits: Arc<Semaphore>,
}

impl Connector {
    pub(super) fn new(settings: &HttpClientSettings, rules: Arc<NetRules>) -> Self {
        Self {
            rules,
            resolver: settings.resolver.clone(),
            tls: Tls::new(&settings.extra_ca),
            timeout: settings.connect_timeout,
            stand_in: settings.stand_in.as_deref().map(Arc::from),
            permits: Arc::new(Semaphore::new(MAX_KEPT)),
        }
    }

    /// Connects for a pool, which keeps only so many.
    async fn connect_pooled(self, uri: Uri) -> Result<TokioIo<NetStream>, NetError> {
        let mut stream = self.connect(uri).await?;
        stream.permit = self.permits.try_acquire_owned().ok();
        Ok(TokioIo::new(stream))
    }

    /// Connects to the host of this address.
    pub(super) async fn connect(&self, uri: Uri) -> Result<NetStream, NetError> {
        let encrypted = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
        let host = uri.host().and_then(|host| Host::parse(host).ok());
        let host =
            host.ok_or_else(|| NetError::new(NetErrorReason::BadUrl, "the URL has no host"))?;
        let plain = name::plain(&host);
        if let Some(folder) = &self.stand_in {
            let stand_in = NetTransport::StandIn(stand_in::connect(folder, &plain));
            return Ok(NetStream::new(stand_in));
        }
        let deadline = tokio::time::Instant::now() + self.timeout;
        let late = |reason, what: &str| {
            let message = format!("{what} `{plain}` within {} s", self.timeout.as_secs_f64());
            NetError::new(reason, message)
        };
        let connected = timeout_at(deadline, async {
            let addresses = self.addresses(&host, &plain, port).await?;
            first_of(addresses, &plain, port).await
        });
        let stream =
            connected.await.map_err(|_| late(NetErrorReason::Timeout, "no connection to"))??;
        // Answers are waited for, so small writes must not wait for each other.
        let _ = stream.set_nodelay(true);
        if !encrypted {
            return Ok(NetStream::new(NetTransport::Plain(stream)));
        }
        // Whoever takes a connection and says nothing most likely does not speak TLS.
        let agreed = timeout_at(deadline, self.tls.handshake(&host, stream));
        let stream =
            agreed.await.map_err(|_| late(NetErrorReason::Tls, "no TLS handshake with"))??;
        Ok(NetStream::new(NetTransport::Encrypted(Box::new(stream))))
    }

    /// The addresses of a host, every one of which may be connected to.
    async fn addresses(
        &self,
        host: &Host<String>,
        plain: &str,
        port: u16,
    ) -> Result<Vec<IpAddr>, NetError> {
        let addresses = match host {
            Host::Ipv4(address) => vec![IpAddr::from(*address)],
            Host::Ipv6(address) => vec![IpAddr::from(*address)],
            // Without the dot at its end, which a `hosts` file does not know.
            Host::Domain(_) => self.resolve(plain).await?,
        };
        if self.rules.is_private_host(plain, port) {
            return Ok(addresses);
        }
        // One bad address refuses the name: whoever mixes them wants to be tried until it hits.
        for address in &addresses {
            if let Some(what) = address::special(*address) {
                return Err(rules::private(plain).for_operator(format!("{address} is {what}")));
            }
        }
        Ok(addresses)
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, NetError> {
        let unknown =
            || NetError::new(NetErrorReason::NotResolved, format!("`{name}` has no address"));
        match self.resolver.resolve(name).await {
            Ok(addresses) if addresses.is_empty() => Err(unknown()),
            Ok(addresses) => Ok(addresses),
            Err(error) => Err(unknown().for_operator(error)),
        }
    }
}

/// A connection to the first address that answers. Each gets a head start on the next one.
async fn first_of(addresses: Vec<IpAddr>, plain: &str, port: u16) -> Result<TcpStream, NetError> {
    let mut waiting = alternating(addresses).into_iter().take(MAX_TRIED);
    let mut tried = FuturesUnordered::new();
    let mut last = None;
    loop {
        if let Some(address) = waiting.next() {
            #[expect(clippy::disallowed_methods, reason = "here is where the address was judged")]
            tried.push(TcpStream::connect(SocketAddr::new(address, port)));
        }
        let head_start = tokio::time::sleep(HEAD_START);
        tokio::select! {
            ended = tried.next() => match ended {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => last = Some(error),
                None => break,
            },
            () = head_start, if waiting.len() > 0 => {}
        }
    }
    let failure =
        NetError::new(NetErrorReason::Connect, format!("no connection to `{plain}:{port}`"));
    Err(match last {
        Some(error) => {
            let message = format!("{} ({})", failure.message, error.kind());
            NetError { message, ..failure }.for_operator(error)
        }
        None => failure,
    })
}

/// The addresses with the families by turns, so that one broken family costs little.
fn alternating(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let first_is_v6 = addresses.first().is_some_and(IpAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut mixed = Vec::with_capacity(first.len() + second.len());
    while first.len() + second.len() > 0 {
        mixed.extend(first.next());
        mixed.extend(second.next());
    }
    mixed
}

impl Service<Uri> for Connector {
    type Response = TokioIo<NetStream>;
    type Error = NetError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NetError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NetError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect_pooled(uri))
    }
}
