//! The terminal, if there is one: its width, and whether it takes colours.

use std::{io::IsTerminal, os::fd::AsFd};

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use clap::ValueEnum;

/// The width that is taken where a terminal does not know its own.
const USUAL_WIDTH: usize = 80;

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColourMode {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColourMode {
    /// Uses this mode from now on.
    pub fn apply(self) {
        match self {
            ColourMode::Auto => ColorChoice::Auto,
            ColourMode::Always => ColorChoice::AlwaysAnsi,
            ColourMode::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// True if what goes to this stream has colours.
pub fn has_colours(stream: &impl RawStream) -> bool {
    match ColorChoice::global() {
        ColorChoice::Auto => {
            anstream::stream::IsTerminal::is_terminal(stream)
                && AutoStream::choice(stream) != ColorChoice::Never
        }
        chosen => chosen != ColorChoice::Never,
    }
}

/// True if stderr is a terminal whose line can be written over.
pub fn is_steered() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The columns of the terminal that is stdout; none if it is something else.
pub fn width_of_stdout() -> Option<usize> {
    let stdout = std::io::stdout();
    stdout.is_terminal().then(|| width(&stdout))
}

/// The columns of the terminal that is stderr.
pub fn width_of_stderr() -> usize {
    width(&std::io::stderr())
}

fn width(stream: &impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream).ok();
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok();
    let known = size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
    known.or_else(of_environment).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}
