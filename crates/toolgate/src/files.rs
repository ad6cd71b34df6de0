//! Files that are written whole or not at all, and read up to a limit.

use std::{
    io::{Read, Write},
    path::Path,
};

use anyhow::{Context, bail};
use contract::document::MAX_DOCUMENT_BYTES;

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
fn folder_of(file: &Path) -> std::io::Result<&Path> {
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
    let name = format!("`{}`", file.display());
    let opened = std::fs::File::open(file).with_context(|| format!("cannot read {name}"))?;
    String::from_utf8(read_bounded(opened, &name, MAX_FILE_BYTES)?)
        .with_context(|| format!("{name} is not UTF-8 text"))
}

/// Reads a document: settings, a contract, an overlay, an allowlist. Of one that is too large no more is read than tells
/// so.
pub fn read_document(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(MAX_DOCUMENT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_DOCUMENT_BYTES {
        let message = format!("the document is larger than {MAX_DOCUMENT_BYTES} bytes");
        return Err(std::io::Error::other(message));
    }
    Ok(bytes)
}

/// The text of a document. It must be UTF-8.
pub fn read_document_text(file: &Path) -> std::io::Result<String> {
    String::from_utf8(read_document(file)?)
        .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error()))
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
