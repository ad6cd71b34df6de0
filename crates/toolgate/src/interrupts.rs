//! Ctrl-C and SIGTERM, for every command.
//!
//! - The first signal ends nothing by itself: it cancels [`token`]. What waits ends with [`InterruptedCommand`], what writes a file
//!   writes it to its end, and whatever was made for the work goes as it is dropped: children, temporary files.
//! - The second signal ends the process at once.
//! - A command that is [`at_rest`] has nothing to clean up, and ends at the first.

use std::{
    io,
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code of a command that was interrupted before it was done.
pub const EXIT_CODE: u8 = 130;

static STOP: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);
/// True while the command waits for something that does not come to an end by itself.
static AT_REST: AtomicBool = AtomicBool::new(false);

/// A command was interrupted before it was done.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct InterruptedCommand;

/// Listens to the signals from now on.
pub fn listen() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let (interrupt, terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    drop(entered);
    let work = move || runtime.block_on(heed(interrupt, terminate));
    std::thread::Builder::new().name("signals".into()).spawn(work).map(drop)
}

async fn heed(mut interrupt: Signal, mut terminate: Signal) {
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        let is_second = STOP.is_cancelled();
        STOP.cancel();
        if is_second || AT_REST.load(Ordering::SeqCst) {
            std::process::exit(EXIT_CODE.into());
        }
    }
}

/// Cancelled by the first signal.
pub fn token() -> CancellationToken {
    STOP.clone()
}

/// Fails once there was a signal; for work that is done in steps.
pub fn check() -> Result<(), InterruptedCommand> {
    if STOP.is_cancelled() { Err(InterruptedCommand) } else { Ok(()) }
}

/// Does work that may be dropped at any time, until there is a signal.
pub async fn or_stopped<T>(work: impl Future<Output = T>) -> Result<T, InterruptedCommand> {
    tokio::select! {
        biased;
        () = STOP.cancelled() => Err(InterruptedCommand),
        done = work => Ok(done),
    }
}

/// Runs work to its end. A signal cancels `stop`, and the work ends with what it has.
pub async fn stopping<T>(stop: &CancellationToken, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => done,
        () = STOP.cancelled() => {
            stop.cancel();
            work.await
        }
    }
}

/// Waits for somebody else, such as whoever writes to stdin, while there is nothing to clean up.
pub fn at_rest<T>(wait: impl FnOnce() -> T) -> T {
    AT_REST.store(true, Ordering::SeqCst);
    if STOP.is_cancelled() {
        std::process::exit(EXIT_CODE.into());
    }
    let done = wait();
    AT_REST.store(false, Ordering::SeqCst);
    done
}
