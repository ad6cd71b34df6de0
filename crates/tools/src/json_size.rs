//! The size of a result as JSON, before it is printed.

use std::io;

use serde::Serialize;

/// More than what stands around the text in a result, in bytes.
pub(crate) const AROUND_BYTES: u64 = 256;
/// The most bytes of JSON that one byte of text becomes: `\u0000`.
pub(crate) const MAX_GROWTH: u64 = 6;

/// The size of a result with this text as JSON; an upper bound where that is sure to fit.
pub(crate) fn json_bytes(text: &str, limit: u64) -> u64 {
    let most = (text.len() as u64).saturating_mul(MAX_GROWTH).saturating_add(AROUND_BYTES);
    if most <= limit {
        return most;
    }
    text.bytes().map(escaped_bytes).sum::<u64>() + AROUND_BYTES
}

/// The bytes of JSON that a byte of text becomes.
pub(crate) fn escaped_bytes(byte: u8) -> u64 {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..=0x1f => MAX_GROWTH,
        _ => 1,
    }
}

/// The bytes of a value as JSON.
pub(crate) fn printed(value: &impl Serialize) -> serde_json::Result<u64> {
    /// Counts what it is given.
    struct ByteCounter(u64);
    impl io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCounter(0);
    serde_json::to_writer(&mut count, value)?;
    Ok(count.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_size_of_a_result_is_never_underestimated() {
        let every: String = (0..0x250_u32).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}", "Grüße 🦀", &every] {
            for value in [
                json!({ "ok": true, "contents": text }),
                json!({ "content": text, "size": u64::MAX }),
            ] {
                let real = value.to_string().len() as u64;
                assert_eq!(printed(&value).unwrap(), real);
                for limit in [0, real, u64::MAX] {
                    let told = json_bytes(text, limit);
                    assert!(told >= real, "{text:?}: {told} < {real}");
                }
                assert!(json_bytes(text, 0) <= real + AROUND_BYTES, "{text:?}");
            }
        }
    }
}
