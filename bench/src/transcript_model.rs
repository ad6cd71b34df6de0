//! The time that `transcript.clean` adds to a language model.
//!
//! The model is an endpoint in this process that writes a token at a fixed pace, and says how long it took by itself,
//! from a question to the last byte of its answer. What a call takes beyond that is Toolgate's.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::MissedTickBehavior,
};

use crate::{processor::Processor, start};

/// The time that a token takes: a fast model, beside which little may be added.
const PACES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(20)];
/// The number of characters that a token has.
const TOKEN_CHARACTERS: usize = 4;
/// The length of the transcript, in words.
const WORDS: usize = 600;

/// A model that writes at a fixed pace.
#[derive(Default)]
struct FakeModel {
    /// The time that it took for all answers, in microseconds.
    own: AtomicU64,
}

pub async fn report() -> anyhow::Result<()> {
    println!(
        "\n{:<24} {:>6}  {:>9}  {:>9}  {:>7}  {:>9}  {:>7}",
        "transcript.clean", "chunks", "model ms", "call ms", "added", "cpu ms", "cpu"
    );
    for pace in PACES {
        measure(pace).await?;
    }
    Ok(())
}

async fn measure(pace: Duration) -> anyhow::Result<()> {
    let model = Arc::new(FakeModel::default());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(serve(listener, model.clone(), pace));
    let folder = tempfile::tempdir()?;
    let yaml = format!(
        "llm: {{ base_url: \"http://127.0.0.1:{port}\" }}\ntools: {{ transcript: {{ mode: model }} }}\n"
    );
    std::fs::write(folder.path().join("toolgate.yaml"), yaml)?;
    let toolgate = start::with_settings(folder)?;
    let processor = Processor::of_listener(toolgate.port()).context("no process listens")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("http://127.0.0.1:{}/v1/tools/execute", toolgate.port());
    let long = json!({ "tool": "transcript.clean", "input": { "text": transcript() } });
    // The first call of a process is not like the others.
    let warm = json!({ "tool": "transcript.clean", "input": { "text": "one two three" } });
    client.post(&url).body(warm.to_string()).send().await?.error_for_status()?;
    let before = (model.own.load(Ordering::Relaxed), processor.used());
    let began = Instant::now();
    let answer =
        client.post(&url).body(long.to_string()).send().await?.error_for_status()?.text().await?;
    let call = began.elapsed();
    let answer: Value = serde_json::from_str(&answer)?;
    ensure!(answer["metrics"]["fallbacks"] == 0, "an answer was not taken: {answer}");
    let own = Duration::from_micros(model.own.load(Ordering::Relaxed) - before.0);
    let cpu = processor.used().saturating_sub(before.1);
    let percent = |time: Duration| 100.0 * time.as_secs_f64() / own.as_secs_f64();
    println!(
        "{:<24} {:>6}  {:>9.1}  {:>9.1}  {:>6.2}%  {:>9.1}  {:>6.2}%",
        format!("a token in {} ms", pace.as_millis()),
        answer["metrics"]["chunks"],
        own.as_secs_f64() * 1e3,
        call.as_secs_f64() * 1e3,
        percent(call.saturating_sub(own)),
        cpu.as_secs_f64() * 1e3,
        percent(cpu),
    );
    Ok(())
}

/// Words of which no two that follow each other are the same.
fn transcript() -> String {
    let letters: Vec<_> = ('a'..='z').collect();
    let word = |number: usize| format!("w{}{}o", letters[number / 26 % 26], letters[number % 26]);
    (0..WORDS).map(word).collect::<Vec<_>>().join(" ")
}

async fn serve(listener: TcpListener, model: Arc<FakeModel>, pace: Duration) {
    while let Ok((stream, _)) = listener.accept().await {
        let model = model.clone();
        tokio::spawn(async move {
            // Whoever asks may go at any time.
            let _ = answer(stream, &model, pace).await;
        });
    }
}

async fn answer(mut stream: TcpStream, model: &FakeModel, pace: Duration) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let question = question(&mut stream).await?;
    let began = Instant::now();
    let text = question["messages"][1]["content"].as_str().context("no question")?;
    let text = text.trim_start_matches("<text>\n").trim_end_matches("\n</text>");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let mut ticks = tokio::time::interval(pace);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let characters: Vec<char> = text.chars().collect();
    for token in characters.chunks(TOKEN_CHARACTERS) {
        ticks.tick().await;
        let token: String = token.iter().collect();
        let event = json!({
            "id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 0, "model": "bench",
            "choices": [{ "index": 0, "delta": { "content": token }, "finish_reason": null }],
        });
        stream.write_all(format!("data: {event}\n\n").as_bytes()).await?;
    }
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    stream.write_all(format!("data: {end}\n\ndata: [DONE]\n\n").as_bytes()).await?;
    let took = u64::try_from(began.elapsed().as_micros())?;
    model.own.fetch_add(took, Ordering::Relaxed);
    Ok(())
}

/// Reads a request to its end.
pub async fn question(stream: &mut TcpStream) -> anyhow::Result<Value> {
    let mut bytes = Vec::new();
    loop {
        ensure!(stream.read_buf(&mut bytes).await? > 0, "the question ends early");
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.context("no length")?.trim().parse()?;
        if bytes.len() >= end + 4 + length {
            return Ok(serde_json::from_slice(&bytes[end + 4..end + 4 + length])?);
        }
    }
}
