//! Starts the log on stderr.
//!
//! Nobody has to read it: lines wait in a bounded queue for a thread that writes them, and what finds the queue full is
//! dropped and counted.

use std::{
    fmt,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender},
    },
    time::Duration,
};

use gate::visible_text::visible_line;
use tracing::field::Field;
use tracing_subscriber::{
    EnvFilter,
    field::MakeExt,
    fmt::{
        FormatFields, MakeWriter,
        format::{self, Writer},
    },
};

use crate::{
    printer::{self, Stderr},
    settings::{LogFormat, LogSection},
};

/// The number of lines that may wait to be written.
const MAX_WAITING_LINES: usize = 1_024;
/// The time that the last lines have to be written when the process ends.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Starts logging with these settings. The lines that still wait are written when the guard is dropped.
pub fn start(settings: &LogSection) -> anyhow::Result<LogGuard> {
    let filter = EnvFilter::try_new(&settings.level)
        .map_err(|error| anyhow::anyhow!("log.level `{}`: {error}", settings.level))?;
    let (queue, guard) = LogQueue::start(Stderr)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(queue)
        .log_internal_errors(false);
    match settings.format {
        LogFormat::Human => {
            let colour = printer::has_colours(&io::stderr());
            builder.with_target(false).with_ansi(colour).fmt_fields(visible_fields()).init();
        }
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    // The usual hook writes to stderr, and would wait for whoever reads it.
    std::panic::set_hook(Box::new(|panic| {
        tracing::error!("{}", panic.to_string().replace('\n', " "));
    }));
    Ok(guard)
}

/// Writes the fields of a line, whoever chose their texts: nothing in them ends the line, steers a terminal or hides.
fn visible_fields() -> impl for<'w> FormatFields<'w> + Send + Sync + 'static {
    let field = |line: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug| {
        let text = format!("{value:?}");
        match field.name() {
            "message" => line.write_str(&visible_line(&text)),
            name => write!(line, "{name}={}", visible_line(&text)),
        }
    };
    format::debug_fn(field).delimited(" ")
}

/// The way of a line to the thread that writes it.
#[derive(Clone)]
struct LogQueue {
    lines: SyncSender<QueuedLine>,
    dropped: Arc<AtomicU64>,
}

enum QueuedLine {
    Line(Vec<u8>),
    /// Everything before it is written.
    Flush(SyncSender<()>),
}

/// Writes the lines that still wait when it is dropped.
pub struct LogGuard(LogQueue);

impl LogGuard {
    /// The number of lines that were dropped, as it grows.
    pub fn dropped(&self) -> Arc<AtomicU64> {
        self.0.dropped.clone()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let (done, written) = mpsc::sync_channel(1);
        if self.0.lines.try_send(QueuedLine::Flush(done)).is_ok() {
            let _ = written.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

impl LogQueue {
    fn start(output: impl Write + Send + 'static) -> io::Result<(Self, LogGuard)> {
        let (lines, queued) = mpsc::sync_channel(MAX_WAITING_LINES);
        let queue = Self { lines, dropped: Arc::default() };
        let dropped = queue.dropped.clone();
        std::thread::Builder::new()
            .name("log".into())
            .spawn(move || write_lines(&queued, output, &dropped))?;
        Ok((queue.clone(), LogGuard(queue)))
    }
}

/// Writes lines until nobody logs any more. Where lines were dropped, a line says how many.
fn write_lines(queued: &Receiver<QueuedLine>, mut output: impl Write, dropped: &AtomicU64) {
    let mut told = 0;
    for line in queued {
        // There is nobody to tell that the log cannot be written.
        match line {
            QueuedLine::Line(line) => _ = output.write_all(&line),
            QueuedLine::Flush(done) => _ = done.try_send(()),
        }
        let lost = dropped.load(Ordering::Relaxed);
        if lost > told {
            let _ = writeln!(output, "{} log lines were dropped: nobody read stderr", lost - told);
            told = lost;
        }
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &LogQueue {
    /// Takes a whole line: the subscriber writes each at one go.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = gate::secrets::redact(&text).into_owned();
        if self.lines.try_send(QueuedLine::Line(text.into_bytes())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_log_that_nobody_reads_holds_up_nobody() {
        let (mut reader, writer) = io::pipe().unwrap();
        let (queue, guard) = LogQueue::start(writer).unwrap();
        let line = [&[b'x'; 999][..], b"\n"].concat();
        // More than the pipe and the queue hold.
        for _ in 0..4_000 {
            (&queue).write_all(&line).unwrap();
        }
        assert!(guard.dropped().load(Ordering::Relaxed) > 0);
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        });
        while queue.lines.try_send(QueuedLine::Line(b"last\n".to_vec())).is_err() {
            std::thread::yield_now();
        }
        drop((queue, guard));
        let text = reading.join().unwrap();
        assert!(text.contains(" log lines were dropped: nobody read stderr\n"), "{}", text.len());
        assert!(text.ends_with("last\n"));
    }
}
