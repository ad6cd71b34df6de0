//! A thousand tools, listed over MCP.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::{
    answer,
    bare::Legacy,
    client::{modern_headers, post},
    message::{self, Numbered},
};
use crate::{
    catalogue::{self, TOOLS},
    http::Connection,
    start,
};

const LISTINGS: usize = 50;
/// More pages than tools would be a server that never comes to an end.
const MAX_PAGES: usize = TOOLS;

/// The time that `tools/list` takes, as a whole and for the first of its pages.
pub async fn report() -> anyhow::Result<()> {
    println!("\nMCP 2026-07-28 over HTTP, tools/list of {TOOLS} tools");
    let bare = start::bare_rmcp(Legacy::Sessions, TOOLS)?;
    let floor = measure(bare.port()).await.context("bare rmcp")?;
    floor.print("bare rmcp", &floor);
    let toolgate = start::with_settings(catalogue::folder()?)?;
    match measure(toolgate.port()).await {
        Ok(listing) => listing.print("toolgate /mcp", &floor),
        Err(error) => println!("      toolgate does not list over /mcp: {error:#}"),
    }
    Ok(())
}

/// The time that it takes to list everything, and how many tools that are.
pub async fn time(port: u16) -> anyhow::Result<(Duration, usize)> {
    let listing = measure(port).await?;
    Ok((listing.whole, listing.tools))
}

/// All pages of a listing.
#[derive(Clone, Copy, Default)]
struct Listing {
    whole: Duration,
    first_page: Duration,
    pages: usize,
    tools: usize,
    bytes: usize,
}

impl Listing {
    fn print(&self, name: &str, floor: &Self) {
        println!(
            "      {name:<13} {:.2?} ({:.2} × bare rmcp), {} tools, {} bytes; pages: {}, the first {:.2?}",
            self.whole,
            self.whole.as_secs_f64() / floor.whole.as_secs_f64(),
            self.tools,
            self.bytes,
            self.pages,
            self.first_page,
        );
    }
}

/// The median of many listings on one connection.
async fn measure(port: u16) -> anyhow::Result<Listing> {
    let mut connection = Connection::open(port).await?;
    let mut listings = Vec::new();
    for _ in 0..LISTINGS {
        listings.push(list(&mut connection, port).await?);
    }
    let median = |pick: fn(&Listing) -> Duration| {
        let mut times: Vec<_> = listings.iter().map(pick).collect();
        times.sort();
        times[times.len() / 2]
    };
    Ok(Listing {
        whole: median(|listing| listing.whole),
        first_page: median(|listing| listing.first_page),
        ..listings[0]
    })
}

/// Follows the cursors to the end. What the client does with a page is not counted.
async fn list(connection: &mut Connection, port: u16) -> anyhow::Result<Listing> {
    let headers = modern_headers("tools/list", None);
    let mut listing = Listing::default();
    let mut cursor = None::<String>;
    loop {
        let mut request = Numbered::new(post(port, &headers, &message::list(cursor.as_deref())));
        let begin = Instant::now();
        let answer = connection.exchange(request.next()).await?;
        let took = begin.elapsed();
        listing.bytes += answer.body.len();
        let message = answer::message(&answer)?;
        let result = answer::result(&message, request.id())?;
        let tools = result["tools"].as_array().context("no tools")?;
        if listing.pages == 0 {
            listing.first_page = took;
        }
        listing.whole += took;
        listing.pages += 1;
        listing.tools += tools.len();
        cursor = result["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            ensure!(listing.tools >= TOOLS, "only {} tools", listing.tools);
            return Ok(listing);
        }
        ensure!(listing.pages < MAX_PAGES, "there is always another page");
    }
}
