//! One form only for each JSON value, and its hash.
//!
//! Keys sorted by their UTF-8 bytes, no white space, strings and numbers as
//! `serde_json` prints them. Two values have the same text exactly when they are
//! the same value, whatever order their keys came in.

use std::io::{self, Write};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The canonical text.
pub fn to_string(value: &Value) -> String {
    let mut text = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = write(value, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// SHA-256 of the canonical text, in hexadecimal.
pub fn sha256(value: &Value) -> String {
    digest(value).sha256
}

/// The hash and the length of a canonical text.
pub struct Digest {
    /// In hexadecimal.
    pub sha256: String,
    pub bytes: u64,
}

pub fn digest(value: &Value) -> Digest {
    let mut hasher = Hasher { hash: Sha256::new(), buffer: Vec::with_capacity(256), hashed: 0 };
    let _ = write(value, &mut hasher);
    hasher.flush_buffer();
    Digest { sha256: hex(&hasher.hash.finalize()), bytes: hasher.hashed }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

/// Hashes what is written to it: a small value at one go, a large one in parts and without
/// a second copy of the whole.
struct Hasher {
    hash: Sha256,
    buffer: Vec<u8>,
    /// The bytes of the parts that are hashed.
    hashed: u64,
}

impl Hasher {
    fn flush_buffer(&mut self) {
        self.hash.update(&self.buffer);
        self.hashed += self.buffer.len() as u64;
        self.buffer.clear();
    }
}

/// The part that is hashed at a time.
const PART_BYTES: usize = 16 * 1_024;

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PART_BYTES {
            self.flush_buffer();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(value: &Value, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.write_all(b"{")?;
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.write_all(b",")?;
                }
                serde_json::to_writer(&mut *out, key)?;
                out.write_all(b":")?;
                write(value, out)?;
            }
            out.write_all(b"}")
        }
        Value::Array(items) => {
            out.write_all(b"[")?;
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.write_all(b",")?;
                }
                write(item, out)?;
            }
            out.write_all(b"]")
        }
        scalar => Ok(serde_json::to_writer(out, scalar)?),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn key_order_does_not_matter() {
        let one = json!({ "b": [1, { "y": null, "x": "é" }], "a": 1.5 });
        let other = json!({ "a": 1.5, "b": [1, { "x": "é", "y": null }] });
        assert_eq!(super::to_string(&one), r#"{"a":1.5,"b":[1,{"x":"é","y":null}]}"#);
        assert_eq!(super::sha256(&one), super::sha256(&other));
    }

    #[test]
    fn hash_is_the_sha256_of_the_text() {
        assert_eq!(
            super::sha256(&json!({})),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
    }
}
