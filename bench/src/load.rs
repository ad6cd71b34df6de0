//! A load of keep-alive connections, each with one request under way at a time.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use tokio::task::JoinSet;

use crate::{
    ROUNDS,
    http::Connection,
    mcp::{McpClient, McpVersion},
    processor::Processor,
    table::Row,
};

/// A server, and the call that is made to it.
#[derive(Clone)]
pub struct Target {
    /// Its name in the table.
    pub name: String,
    port: u16,
    calls: Calls,
}

#[derive(Clone)]
enum Calls {
    /// The same bytes again and again.
    Json(Vec<u8>),
    /// `tools/call`, each with an id of its own, after what the version asks for at the start.
    Mcp(McpVersion, String),
    /// Something in this process.
    Here(Arc<Work>),
}

/// The work of a call, and its result.
type Work = dyn Fn() -> Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>> + Send + Sync;

impl Target {
    /// A POST of a JSON body.
    pub fn new(name: &str, port: u16, path: &str, body: &str) -> Self {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { name: name.to_owned(), port, calls: Calls::Json(request.into_bytes()) }
    }

    /// Work in this process, without a door.
    pub fn here<F>(name: &str, work: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let work: Arc<Work> = Arc::new(move || Box::pin(work()));
        Self { name: name.to_owned(), port: 0, calls: Calls::Here(work) }
    }

    /// A tool over MCP that takes and gives what `echo_json` does.
    pub fn mcp(name: &str, port: u16, version: McpVersion, tool: &str) -> Self {
        Self { name: name.to_owned(), port, calls: Calls::Mcp(version, tool.to_owned()) }
    }
}

/// The figures of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Good answers a second.
    pub per_second: f64,
    /// Half of them took no longer, in microseconds.
    pub p50: f64,
    /// All but one in a hundred took no longer, in microseconds.
    pub p99: f64,
    /// The processor time of the server for a call, in microseconds.
    pub cpu: f64,
    /// Answers that were not good, of which nothing else is counted.
    pub errors: usize,
}

/// The calls that were made, until they are figures.
#[derive(Default)]
pub struct Tally {
    good: Vec<Duration>,
    /// Those of the warm-up too.
    made: u32,
    errors: usize,
}

impl Tally {
    /// Another call, and how long it took.
    pub fn count(&mut self, good: bool, took: Duration) {
        if good {
            self.good.push(took);
        } else {
            self.errors += 1;
        }
    }

    fn add(&mut self, other: Self) {
        self.good.extend(other.good);
        self.made += other.made;
        self.errors += other.errors;
    }

    /// All of them, made within this time.
    pub fn figures(mut self, time: Duration) -> Figures {
        self.good.sort_unstable();
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let at = |share: f64| {
            let index = ((self.good.len() as f64 - 1.0) * share) as usize;
            self.good.get(index).map_or(f64::NAN, |took| took.as_nanos() as f64 / 1_000.0)
        };
        #[allow(clippy::cast_precision_loss)]
        let per_second = self.good.len() as f64 / time.as_secs_f64();
        Figures { per_second, p50: at(0.5), p99: at(0.99), cpu: f64::NAN, errors: self.errors }
    }
}

/// Rounds of all targets in turn.
pub async fn rounds(
    targets: &[Target],
    connections: usize,
    round: Duration,
) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> =
        targets.iter().map(|target| (target.name.clone(), Vec::new())).collect();
    // A server that leaves a stream open would be waited for until somebody looks.
    let patience = round * 2 + Duration::from_secs(30);
    for _ in 0..ROUNDS {
        for (target, (name, figures)) in targets.iter().zip(&mut rows) {
            let measured = tokio::time::timeout(patience, run(target, connections, round));
            let measured = measured.await.context("it did not come to an end")?;
            figures.push(measured.with_context(|| format!("{name}, {connections} connections"))?);
        }
    }
    Ok(rows)
}

/// Calls for a while, after a short warm-up.
async fn run(target: &Target, connections: usize, time: Duration) -> anyhow::Result<Figures> {
    let processor = Processor::of_listener(target.port);
    let used = || processor.as_ref().map(Processor::used);
    let before = used();
    let warm = Instant::now() + time / 5;
    let end = warm + time;
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let target = target.clone();
        tasks.spawn(async move { connection(&target, warm, end).await });
    }
    let mut tally = Tally::default();
    while let Some(task) = tasks.join_next().await {
        tally.add(task??);
    }
    let made = f64::from(tally.made);
    let cpu = used().zip(before).map(|(after, before)| after.saturating_sub(before));
    let cpu = cpu.map_or(f64::NAN, |used| used.as_secs_f64() * 1e6 / made);
    Ok(Figures { cpu, ..tally.figures(time) })
}

async fn connection(target: &Target, warm: Instant, end: Instant) -> anyhow::Result<Tally> {
    let mut caller = Caller::open(target).await?;
    let mut tally = Tally::default();
    loop {
        let begin = Instant::now();
        if begin >= end {
            caller.close().await?;
            return Ok(tally);
        }
        let good = caller.call().await?;
        tally.made += 1;
        if begin >= warm {
            tally.count(good, begin.elapsed());
        }
    }
}

/// A target at the other end of a connection.
enum Caller<'a> {
    Json { connection: Connection, request: &'a [u8] },
    Mcp(McpClient),
    Here(&'a Work),
}

impl<'a> Caller<'a> {
    async fn open(target: &'a Target) -> anyhow::Result<Self> {
        Ok(match &target.calls {
            Calls::Json(request) => {
                Self::Json { connection: Connection::open(target.port).await?, request }
            }
            Calls::Mcp(version, tool) => {
                Self::Mcp(McpClient::open(target.port, *version, tool).await?)
            }
            Calls::Here(work) => Self::Here(&**work),
        })
    }

    /// Makes a call and tells whether the answer was a good one.
    async fn call(&mut self) -> anyhow::Result<bool> {
        match self {
            Self::Json { connection, request } => {
                let answer = connection.exchange(request).await?;
                if answer.status != 200 {
                    bail!("not a success: {}", String::from_utf8_lossy(answer.body));
                }
                Ok(true)
            }
            Self::Mcp(client) => client.call().await,
            Self::Here(work) => work().await.map(|()| true),
        }
    }

    async fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Json { .. } | Self::Here(_) => Ok(()),
            Self::Mcp(client) => client.close().await,
        }
    }
}
