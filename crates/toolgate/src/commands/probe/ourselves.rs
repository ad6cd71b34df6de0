//! Our own tools, through every door.

use upstream::probe::{Options, Report};

use crate::{Answer, printer::Printer, settings::Flags};

pub fn run(
    _flags: &Flags,
    _options: &Options,
    _printer: &Printer,
) -> anyhow::Result<Result<Report, Answer>> {
    anyhow::bail!("not there yet")
}
