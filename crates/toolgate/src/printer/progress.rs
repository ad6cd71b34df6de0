//! Progress of what takes longer than a second, on stderr.
//!
//! On a terminal it is one line that changes. Elsewhere it is a plain line now and then: somebody who looks into the log of
//! a build should see that it goes on, and the rest should stay readable. Text of others in it is shown and not obeyed.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use gate::visible_text::visible_line;

use super::{cells, say_line, stderr, terminal};

/// What is done sooner shows no progress.
const FIRST_SHOWN_AFTER: Duration = Duration::from_secs(1);
/// The time between two changes of the line on a terminal.
const CHANGE_INTERVAL: Duration = Duration::from_millis(100);
/// The time before the first plain line, and between two of them.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// True where no progress is wanted.
static IS_OFF: AtomicBool = AtomicBool::new(false);
/// What is under way, the innermost last: that one is shown.
static UNDER_WAY: Mutex<Vec<Arc<Mutex<String>>>> = Mutex::new(Vec::new());

/// Shows no progress from now on: the output of the command is for a program.
pub fn switch_off_if(is_off: bool) {
    IS_OFF.fetch_or(is_off, Ordering::Relaxed);
}

/// True if progress is shown at all.
pub fn is_on() -> bool {
    !IS_OFF.load(Ordering::Relaxed)
}

/// True if each step of the work gets a line of its own: on a terminal, where somebody watches.
pub fn has_steps() -> bool {
    is_on() && terminal::is_steered()
}

/// Something that is under way, until it is dropped.
pub struct ProgressLine {
    words: Arc<Mutex<String>>,
    ticker: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Begins to show something.
    pub fn begin(words: impl Into<String>) -> Self {
        let words = Arc::new(Mutex::new(words.into()));
        let mut ticker = None;
        if is_on() {
            lock(&UNDER_WAY).push(words.clone());
            let (alive, over) = mpsc::sync_channel(0);
            let shown = words.clone();
            let thread = std::thread::Builder::new().name("progress".into());
            // Without a thread the work is done all the same.
            let thread = thread.spawn(move || show(&shown, &over)).ok();
            ticker = thread.map(|thread| (alive, thread));
        }
        Self { words, ticker }
    }

    /// Changes the words.
    pub fn set(&self, words: impl Into<String>) {
        *lock(&self.words) = words.into();
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        lock(&UNDER_WAY).retain(|other| !Arc::ptr_eq(other, &self.words));
        if let Some((alive, thread)) = self.ticker.take() {
            drop(alive);
            let _ = thread.join();
        }
    }
}

/// Shows the words until it is over.
fn show(words: &Arc<Mutex<String>>, over: &Receiver<()>) {
    let began = Instant::now();
    let is_on_top =
        || lock(&UNDER_WAY).last().is_some_and(|innermost| Arc::ptr_eq(innermost, words));
    let line = || {
        let words = gate::secrets::redact(&lock(words)).into_owned();
        (visible_line(&words), began.elapsed().as_secs())
    };
    let on_terminal = terminal::is_steered();
    let (first, next) = if on_terminal {
        (FIRST_SHOWN_AFTER, CHANGE_INTERVAL)
    } else {
        (PLAIN_INTERVAL, PLAIN_INTERVAL)
    };
    let mut wait = first;
    while over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = next;
        let (words, seconds) = line();
        if on_terminal {
            let seconds = format!("  {seconds} s");
            // The last column stays free: some terminals go to the next line there.
            let width = terminal::width_of_stderr().saturating_sub(seconds.len() + 1);
            let text = format!("{}{seconds}", cells::cut(&words, width));
            stderr::change(Some(&text), is_on_top);
        } else if is_on_top() {
            say_line(&format!("{words} ({seconds} s)"));
        }
    }
    if on_terminal {
        stderr::change(None, || true);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
