//! Backups that are damaged, of a later version, or made to do harm: an error, and nothing is restored.

use testkit::World;

use super::{names, world};

/// Writes `bad.tar.gz` of the files of `all.tar.gz`, which stand in `files` by name; `archive` is the new one. `add` adds a
/// file or another entry, `sums` the checksums of what `files` has.
const PRELUDE: &str = r"
import hashlib, io, tarfile
old = tarfile.open('all.tar.gz')
files = {one.name: old.extractfile(one).read() for one in old}
del files['SHA256SUMS']
archive = tarfile.open('bad.tar.gz', 'w:gz', format=tarfile.GNU_FORMAT)
def add(name, data=b'', **fields):
    one = tarfile.TarInfo(name)
    one.size = len(data)
    for key, value in fields.items(): setattr(one, key, value)
    archive.addfile(one, io.BytesIO(data))
def put():
    for name, data in files.items(): add(name, data)
def sums(more={}):
    lines = [f'{hashlib.sha256(data).hexdigest()}  {name}\n' for name, data in (files | more).items()]
    add('SHA256SUMS', ''.join(lines).encode())
";

fn with_backup() -> World {
    let world = world();
    world.cli("call write_text_artifact text=kept").exits(0);
    world.cli("backup all.tar.gz").exits(0);
    world.write("outside.txt", "theirs");
    world
}

fn make(world: &World, script: &str) {
    let script = format!("{PRELUDE}\n{script}\narchive.close()\n");
    #[allow(clippy::disallowed_types)] // Somebody else's program.
    let mut python = std::process::Command::new("python3");
    assert!(python.args(["-c", &script]).current_dir(world.folder()).status().unwrap().success());
}

/// The backup is refused with these words, and nothing in the folder is new.
#[track_caller]
fn refused(world: &World, case: &str, words: &str) {
    let before = names(world.folder());
    let output = world.cli("--data-dir new restore bad.tar.gz");
    assert!(output.code == 2, "{case}: {output}");
    let output = output.stdout_is("").stderr_has("error: `bad.tar.gz`: ");
    assert!(output.stderr.contains(words), "{case}: no `{words}` in {output}");
    assert_eq!(names(world.folder()), before, "{case}");
    assert_eq!(world.read("outside.txt"), "theirs");
}

#[test]
fn what_no_backup_has_is_refused() {
    let world = with_backup();
    make(&world, "put(); sums()");
    world.cli("--data-dir same restore bad.tar.gz").exits(0);
    let job = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let cases = [
        ("put(); add('../outside.txt', b'x'); sums()", "it has a file `../outside.txt`"),
        ("put(); add('/etc/toolgate-test', b'x'); sums()", "it has a file `/etc/toolgate-test`"),
        ("put(); add('artifacts/../../outside.txt', b'x'); sums()", "which no backup has"),
        ("put(); add('artifacts/JOB/../../../outside.txt', b'x'); sums()", "which no backup has"),
        ("put(); add('server.lock', b'1'); sums()", "it has a file `server.lock`"),
        ("put(); add('\\x1b[2Jevil', b'1'); sums()", "`\\u{1b}[2Jevil`"),
        ("put(); add('artifacts', type=tarfile.DIRTYPE); sums()", "is a folder, which no backup"),
        ("put(); add('artifacts/JOB', type=tarfile.SYMTYPE, linkname='/tmp'); sums()", "is a link"),
        (
            "put(); add('journal.jsonl.1', type=tarfile.LNKTYPE, linkname='outside.txt'); sums()",
            "is a link",
        ),
        (
            "put(); add('journal.jsonl.1', type=tarfile.CHRTYPE, devmajor=1, devminor=3); sums()",
            "is a device",
        ),
        ("put(); add('journal.jsonl.1', type=tarfile.BLKTYPE); sums()", "is a device"),
        ("put(); add('journal.jsonl.1', type=tarfile.FIFOTYPE); sums()", "is a pipe"),
        ("put(); add('toolgate.db', b'x'); sums()", "it has two files `toolgate.db`"),
        ("put(); add('journal.jsonl.1', b'x'); sums()", "its files are not as `SHA256SUMS` says"),
        ("put(); sums({'journal.jsonl.1': b'x'})", "its files are not as `SHA256SUMS` says"),
        ("put()", "it is cut short: its checksums are missing"),
        ("put(); sums(); add('journal.jsonl.1', b'x')", "it has a file behind `SHA256SUMS`"),
        ("add('toolgate.db', files['toolgate.db']); sums()", "does not begin with `backup.json`"),
        ("del files['toolgate.db']; put(); sums()", "it has no `toolgate.db`"),
        (
            "files['toolgate.db'] = b'no rows' * 999; put(); sums()",
            "cannot open `toolgate.db` in it",
        ),
        ("files['backup.json'] = b'{}'; put(); sums()", "`backup.json` in it cannot be read"),
        ("files['backup.json'] = b' ' * 99999; put(); sums()", "does not begin with `backup.json`"),
        // A later version, whatever else it may have.
        (
            "files['backup.json'] = b'{\"format\":1,\"toolgate\":\"9.0\",\"schema\":99,\"created_at\":\"\"}'; put(); add('new', b''); sums()",
            "it was made by Toolgate 9.0, which is newer than this one",
        ),
        (
            "files['backup.json'] = b'{\"format\":2,\"toolgate\":\"9.0\",\"schema\":1,\"created_at\":\"\",\"more\":1}'; put()",
            "restore it with that version",
        ),
    ];
    for (script, words) in cases {
        make(&world, &script.replace("JOB", job));
        refused(&world, script, words);
    }
    // Another format of tar.
    make(&world, "archive.format = tarfile.PAX_FORMAT; put(); sums()");
    refused(&world, "pax", "it is not an archive of `toolgate backup`");
}

#[test]
fn a_damaged_backup_is_refused_wherever_it_is_damaged() {
    let world = with_backup();
    let whole = std::fs::read(world.folder().join("all.tar.gz")).unwrap();
    let bad = world.folder().join("bad.tar.gz");
    for part in 0..12 {
        std::fs::write(&bad, &whole[..whole.len() * part / 12]).unwrap();
        refused(&world, &format!("cut at {part} of 12"), "");
    }
    std::fs::write(&bad, &whole[..whole.len() - 1]).unwrap();
    refused(&world, "without its last byte", "it is cut short");
    for part in 0..12 {
        let mut damaged = whole.clone();
        let place = (whole.len() * part / 12).max(12);
        damaged[place] ^= 0x55;
        std::fs::write(&bad, &damaged).unwrap();
        refused(&world, &format!("another byte at {place}"), "");
    }
    std::fs::write(&bad, [&whole[..], b"more"].concat()).unwrap();
    refused(&world, "something behind it", "there is something behind its end");
    std::fs::write(&bad, [&whole[..], &whole[..]].concat()).unwrap();
    refused(&world, "two in one", "there is something behind its end");
    std::fs::write(&bad, "a text that was never an archive of anything").unwrap();
    refused(&world, "a text", "it is damaged, or not a backup");
    world
        .cli("--data-dir new restore missing.tar.gz")
        .exits(2)
        .stderr_has("cannot read `missing.tar.gz`");
    world.cli("--data-dir new restore contracts").exits(2).stderr_has("is not a regular file");
    world.cli("--data-dir new restore /dev/zero").exits(2).stderr_has("is not a regular file");
    assert!(!world.has("new"));
}
