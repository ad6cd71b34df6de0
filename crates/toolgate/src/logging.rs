//! Starts the log on stderr.

use tracing_subscriber::EnvFilter;

use crate::settings::{LogFormat, LogSection};

/// Starts logging with these settings.
pub fn start(settings: &LogSection) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.level)
        .map_err(|error| anyhow::anyhow!("log.level `{}`: {error}", settings.level))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // It would panic if stderr is closed.
        .log_internal_errors(false);
    match settings.format {
        LogFormat::Human => {
            let colour = std::io::IsTerminal::is_terminal(&std::io::stderr());
            builder.with_target(false).with_ansi(colour).init();
        }
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    Ok(())
}
