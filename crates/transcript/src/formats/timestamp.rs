//! Times as transcripts write them: `0:04`, `00:00:01,000`, `1:02:03.5`.

/// A time at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CueTime {
    /// Its length in bytes.
    pub length: usize,
    /// Its value in whole seconds.
    pub seconds: u64,
    /// True if it has hours, minutes and seconds, or parts of a second.
    pub is_precise: bool,
}

/// The time that a text begins with.
pub(super) fn leading(text: &str) -> Option<CueTime> {
    let bytes = text.as_bytes();
    let (mut at, mut seconds, mut fields) = (0, 0_u64, 0);
    loop {
        let (digits, value) = number(&bytes[at..], 4)?;
        if fields > 0 && digits > 2 {
            return None;
        }
        at += digits;
        seconds = seconds * 60 + value;
        fields += 1;
        if fields == 3 || bytes.get(at) != Some(&b':') {
            break;
        }
        at += 1;
    }
    if fields < 2 {
        return None;
    }
    let mut is_precise = fields == 3;
    if let Some(b'.' | b',') = bytes.get(at)
        && let Some((digits, _)) = number(&bytes[at + 1..], 9)
        && bytes.get(at + 1 + digits) != Some(&b':')
    {
        at += 1 + digits;
        is_precise = true;
    }
    // `10:30pm` and `1:2:3:4` are no times of a recording.
    let goes_on = bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b':');
    (!goes_on).then_some(CueTime { length: at, seconds, is_precise })
}

/// True if a line says when a caption is shown: two times and an arrow, or a comma as in SBV.
pub(super) fn is_timing(line: &str) -> bool {
    // Nearly every line is told apart by its first character.
    if !line.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    // A time that nobody can read is no text, either.
    let Some(time) = leading(line) else { return is_broken_timing(line) };
    let rest = &line[time.length..];
    if let Some(end) = rest.strip_prefix(',') {
        return leading(end).is_some_and(|time| end[time.length..].trim().is_empty());
    }
    let rest = rest.trim_start();
    rest.starts_with("-->") || rest.starts_with("->")
}

fn is_broken_timing(line: &str) -> bool {
    let Some((before, after)) = line.split_once("-->") else { return false };
    let is_time = |text: &str| !text.contains(char::is_whitespace) && text.contains(':');
    is_time(before.trim()) && after.trim().split(' ').next().is_some_and(is_time)
}

/// The digits that bytes begin with, at most so many: how many there are, and what they say.
fn number(bytes: &[u8], most: usize) -> Option<(usize, u64)> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > most {
        return None;
    }
    let value = bytes[..digits].iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0'));
    Some((digits, value))
}
