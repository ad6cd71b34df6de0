//! Files that are written as a whole or not at all, and read up to a limit.

use std::{
    io::{Read, Write},
    path::Path,
};

use anyhow::{Context, bail};

/// The largest file that a person names to be read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Writes a file that was not there.
pub fn write_new(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let wrote = written(folder.unwrap_or(Path::new(".")), text)
        .and_then(|temporary| temporary.persist_noclobber(file).map_err(|error| error.error));
    wrote
        .map(|_| ())
        .map_err(without_path)
        .with_context(|| format!("cannot write `{}`", file.display()))
}

/// Writes a file over what was there: it stays behind its links and keeps its rights, and what is no
/// file, such as `/dev/stdout`, is written to.
pub fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    upstream::replace(file, text.as_bytes())
        .map_err(without_path)
        .with_context(|| format!("cannot write `{}`", file.display()))
}

/// Says why a file cannot be written, before anything is done for it. What is there already is left to its writer.
pub fn can_be_written(file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::tempfile_in(folder.unwrap_or(Path::new(".")))
        .map(|_| ())
        .map_err(without_path)
        .with_context(|| format!("cannot write `{}`", file.display()))
}

/// What went wrong, without the name of a temporary file that nobody asked for. It stands behind what the system said.
pub fn without_path(error: std::io::Error) -> std::io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((said, _)) if error.get_ref().is_some() => std::io::Error::new(error.kind(), said),
        _ => error,
    }
}

/// Makes a file that only this user may read, where there is none: what is written over it keeps its rights. Where that
/// cannot be done, writing it says why.
pub fn make_private(file: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
}

/// A file with that text, yet without its name.
fn written(folder: &Path, text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    set_readable(temporary.as_file())?;
    Ok(temporary)
}

/// What people edit is for everybody to read, unlike other temporary files.
fn set_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// The text of a file that a person named.
pub fn read(file: &Path) -> anyhow::Result<String> {
    let shown = file.display();
    let unreadable = || format!("cannot read `{shown}`");
    let mut text = String::new();
    let opened = std::fs::File::open(file).with_context(unreadable)?;
    opened.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).with_context(unreadable)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        bail!("`{shown}` is larger than {MAX_FILE_BYTES} bytes");
    }
    Ok(text)
}
