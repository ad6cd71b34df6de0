//! The round trip of a call through a child's stdin and stdout.

use std::time::{Duration, Instant};

use super::{
    ECHO, FLOOR, answer,
    bare::Streams,
    message::{self, McpVersion, Numbered},
    piped::Piped,
};
use crate::{
    ROUNDS,
    load::{Figures, Tally},
    start, table,
};

/// One call after the other, with rounds of the children in turn.
pub fn report(round: Duration) -> anyhow::Result<()> {
    for version in McpVersion::ALL {
        println!("\nMCP {} on stdio\n{}", version.version(), table::header(FLOOR));
        let mut clients = Vec::new();
        for (name, streams) in
            [("bare rmcp, stdio_pipes()", Streams::Pipes), ("bare rmcp, stdio()", Streams::Threads)]
        {
            clients.push((name, StdioClient::open(start::bare_rmcp_on_stdio(streams)?, version)?));
        }
        match start::toolgate_on_stdio().and_then(|child| StdioClient::open(child, version)) {
            Ok(client) => clients.push(("toolgate mcp", client)),
            Err(error) => println!("      toolgate does not answer on stdio: {error:#}"),
        }
        let mut rows: Vec<table::Row> =
            clients.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())).collect();
        for _ in 0..ROUNDS {
            for ((_, client), (_, rounds)) in clients.iter_mut().zip(&mut rows) {
                rounds.push(client.run(round)?);
            }
        }
        table::print(1, &rows);
    }
    Ok(())
}

/// A client that blocks: it has nothing else to do while it waits, and a runtime's turn
/// between write and read would look like the server's.
struct StdioClient {
    child: Piped,
    call: Numbered,
}

impl StdioClient {
    /// Does what the version asks for, and makes a first call that must be answered well.
    fn open(mut child: Piped, version: McpVersion) -> anyhow::Result<Self> {
        if version == McpVersion::Legacy {
            child.send(&line(&message::initialize()))?;
            answer::expect_version(&serde_json::from_slice(child.receive()?)?)?;
            child.send(&line(message::INITIALIZED))?;
        }
        let mut call = Numbered::new(line(&message::call(version, ECHO)));
        child.send(call.next())?;
        answer::expect_echo(&serde_json::from_slice(child.receive()?)?, call.id())?;
        Ok(Self { child, call })
    }

    /// Calls for a while, after a short warm-up.
    fn run(&mut self, time: Duration) -> anyhow::Result<Figures> {
        let warm = Instant::now() + time / 5;
        let end = warm + time;
        let mut tally = Tally::default();
        loop {
            let begin = Instant::now();
            if begin >= end {
                return Ok(tally.figures(time));
            }
            self.child.send(self.call.next())?;
            let answer = self.child.receive()?;
            let took = begin.elapsed();
            let good = answer::looks_like_the_echo(answer, self.call.digits());
            if begin >= warm {
                tally.count(good, took);
            }
        }
    }
}

fn line(message: &str) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}
