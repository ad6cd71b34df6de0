//! Files that are written whole or not at all, and read up to a limit.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, bail};
use contract::{Diagnostic, Severity, document::MAX_DOCUMENT_BYTES};
use serde_json::Value;

use crate::settings::FileErrors;

use crate::interrupts;

/// The largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Writes a new file.
pub fn write_new(file: &Path, text: &str) -> anyhow::Result<()> {
    let wrote = folder_of(file)
        .and_then(|folder| temporary_file(folder, text))
        .and_then(|temporary| temporary.persist_noclobber(file).map_err(|error| error.error));
    wrote.map(|_| ()).map_err(without_path).with_context(|| cannot_write(file))
}

/// Replaces a file. Links to it and its permissions stay; what is not a regular file, such as `/dev/stdout`, is
/// written to.
pub fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    upstream::replace_file(file, text.as_bytes())
        .map_err(without_path)
        .with_context(|| cannot_write(file))
}

/// Checks that a file can be written, before the work for it is done. An existing file is not checked.
pub fn can_be_written(file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let tried = folder_of(file).and_then(tempfile::tempfile_in);
    tried.map(|_| ()).map_err(without_path).with_context(|| cannot_write(file))
}

fn cannot_write(file: &Path) -> String {
    format!("cannot write `{}`", file.display())
}

/// The folder of a file. It must exist.
pub fn folder_of(file: &Path) -> std::io::Result<&Path> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.metadata().map(|_| folder)
}

/// The error without the path of a temporary file, which `tempfile` adds and nobody asked for.
pub fn without_path(error: std::io::Error) -> std::io::Error {
    if error.get_ref().is_some() { error.kind().into() } else { error }
}

/// Creates a file that only this user may read, if there is none. If that fails, writing it will report why.
pub fn create_private(file: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
}

fn temporary_file(folder: &Path, text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    set_readable(temporary.as_file())?;
    Ok(temporary)
}

/// Lets everybody read a file that people edit; temporary files are private.
fn set_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Reads a file that a person named. It must be UTF-8.
pub fn read(file: &Path) -> anyhow::Result<String> {
    let shown = file.display().to_string();
    let name = format!("`{shown}`");
    let bytes = waiting_for(file, || {
        let opened = std::fs::File::open(file).with_context(|| format!("cannot read {name}"))?;
        read_bounded(opened, &name, MAX_FILE_BYTES)
    });
    text(&shown, bytes?)
}

/// Reads all of stdin, up to a limit.
pub fn read_stdin(name: &str, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
    interrupts::at_rest(|| read_bounded(std::io::stdin(), name, max_bytes))
}

/// Reads a file. One that is not regular, such as a pipe, may have to be waited for, perhaps for ever.
fn waiting_for<T>(file: &Path, read: impl FnOnce() -> T) -> T {
    let may_wait = file.metadata().is_ok_and(|found| !found.is_file());
    if may_wait { interrupts::at_rest(read) } else { read() }
}

/// The JSON of a file that a person named. Of two equal keys none is picked.
pub fn read_json(file: &Path) -> anyhow::Result<Value> {
    json(&file.display().to_string(), &read(file)?)
}

/// The JSON of a text. A mistake is shown in its place.
pub fn json(name: &str, text: &str) -> anyhow::Result<Value> {
    let read = contract::json::parse(text.as_bytes());
    read.map_err(|error| FileErrors(vec![error.diagnostic(name, text)]).into())
}

/// The text of a file. One that is not UTF-8 is shown at the first wrong byte.
fn text(name: &str, bytes: Vec<u8>) -> anyhow::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text: Arc<str> = String::from_utf8_lossy(error.as_bytes()).into();
        let message = "the file is not UTF-8 text";
        let found = Diagnostic::new(Severity::Error, name, &text, at..at + 1, message);
        FileErrors(vec![found.hint("save the file as UTF-8")]).into()
    })
}

/// Reads a document: settings, a contract, an overlay, an allowlist. Of one that is too large no more is read than tells
/// so.
fn read_document(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    waiting_for(file, || {
        std::fs::File::open(file)?.take(MAX_DOCUMENT_BYTES as u64 + 1).read_to_end(&mut bytes)
    })?;
    if bytes.len() > MAX_DOCUMENT_BYTES {
        let message = format!("the document is larger than {MAX_DOCUMENT_BYTES} bytes");
        return Err(std::io::Error::other(message));
    }
    Ok(bytes)
}

/// The text of a document. It must be UTF-8.
pub fn read_document_text(file: &Path) -> anyhow::Result<String> {
    text(&file.display().to_string(), read_document(file)?)
}

/// Every `.yaml`, `.yml` and `.json` of a folder, sorted.
pub fn contracts_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut inside = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        let ending = file.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("yaml" | "yml" | "json")) {
            inside.push(file);
        }
    }
    inside.sort();
    Ok(inside)
}

/// The text of a contract. A pipe or a device among the files of a folder is not waited for.
pub fn read_contract_text(file: &Path) -> anyhow::Result<String> {
    if !file.metadata()?.is_file() {
        bail!("it is not a regular file");
    }
    read_document_text(file)
}

/// The text of a small file that we keep. For a pipe in its place nobody waits.
pub fn read_own(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    guard::files::open_regular(file)?.take(MAX_DOCUMENT_BYTES as u64).read_to_string(&mut text)?;
    Ok(text)
}

/// The text of an argument, or of the file that it names after an `@`.
pub fn given(text: &str) -> anyhow::Result<String> {
    match text.strip_prefix('@') {
        Some(file) => read(file.as_ref()),
        None => Ok(text.to_owned()),
    }
}

/// The JSON of an argument, or of the file that it names after an `@`.
pub fn given_json(text: &str, trouble: impl Fn() -> String) -> anyhow::Result<Value> {
    match text.strip_prefix('@') {
        Some(file) => read_json(file.as_ref()),
        None => contract::json::parse(text.as_bytes()).with_context(trouble),
    }
}

/// Reads all of a source, up to a limit.
pub fn read_bounded(source: impl Read, name: &str, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = source.take(max_bytes + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > max_bytes {
        bail!("{name} is larger than {max_bytes} bytes");
    }
    Ok(bytes)
}
