//! JSON appended to a buffer. Messages are written as text: nothing is built only to be printed.

use serde::Serialize;

/// Appends a value.
pub fn append<T: Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    // Strings and values that came from JSON: there is nothing in it that cannot be printed.
    let _ = serde_json::to_writer(text, value);
}

/// Appends a further field of an object.
pub fn append_field<T: Serialize + ?Sized>(text: &mut Vec<u8>, name: &str, value: &T) {
    text.push(b',');
    append(text, name);
    text.push(b':');
    append(text, value);
}

/// Appends a string. JSON within a string is full of quotes, and to search for the next one after each
/// takes longer than to look at every byte.
pub fn append_string(text: &mut Vec<u8>, string: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    text.reserve(string.len() + string.len() / 4 + 2);
    text.push(b'"');
    for &byte in string.as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            0..0x20 => {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                text.extend_from_slice(b"\\u00");
                text.extend_from_slice(&digits);
            }
            _ => text.push(byte),
        }
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_printed_so_that_it_can_be_read_again() {
        let all: String =
            (0..0x250).filter_map(char::from_u32).chain("a\u{1f600}\u{2028}".chars()).collect();
        let mut printed = Vec::new();
        append_string(&mut printed, &all);
        assert_eq!(serde_json::from_slice::<String>(&printed).unwrap(), all);
        assert!(!printed.contains(&b'\n'), "messages are lines");
    }
}
