//! From names to addresses.

use std::{future::Future, io, net::IpAddr, pin::Pin, sync::Arc};

use tokio::sync::Semaphore;

/// The number of names that the system is asked about at once. Each question holds a thread until it is
/// answered, whoever has stopped waiting for it.
const MAX_LOOKUPS: usize = 64;

/// The addresses of a name, on their way.
pub type Addresses<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of names. It decides nothing: whoever asks judges what it says.
pub trait Resolve: Send + Sync {
    /// All addresses of a name; none, or an error, where it has none. The name is in ASCII.
    fn resolve<'a>(&'a self, name: &'a str) -> Addresses<'a>;
}

/// The resolver of the system, with its `hosts` file.
pub struct SystemResolver {
    places: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Addresses<'a> {
        Box::pin(async move {
            let place = self.places.clone().acquire_owned().await.map_err(io::Error::other)?;
            let name = name.to_owned();
            // The place is given back when the system answers, not when the caller goes.
            let asked = tokio::spawn(async move {
                let found = tokio::net::lookup_host((name.as_str(), 0)).await;
                drop(place);
                found.map(|found| found.map(|address| address.ip()).collect())
            });
            asked.await.map_err(io::Error::other)?
        })
    }
}
