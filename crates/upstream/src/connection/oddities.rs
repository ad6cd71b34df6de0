//! What a server sends that cannot be used: counted, ignored, and shown to who looks for the reason.

/// How many of the lines that are no messages are kept.
const MAX_SAMPLES: usize = 5;
/// As much of each as is kept, in characters.
const MAX_SAMPLE_CHARS: usize = 200;

/// What a server sent that could not be used. None of it ends a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Lines that are no messages: logs on standard output, for example.
    pub garbage: u64,
    /// Messages that were longer than we take.
    pub too_long: u64,
    /// Answers to nothing that we wait for: late ones, second ones, wrong numbers.
    pub unexpected: u64,
    /// The first lines that are no messages.
    pub samples: Vec<String>,
}

impl Oddities {
    /// A line that is no message.
    pub(crate) fn garbage(&mut self, line: &[u8]) {
        self.garbage += 1;
        if self.samples.len() < MAX_SAMPLES {
            // A character takes at most four bytes.
            let beginning = &line[..line.len().min(MAX_SAMPLE_CHARS * 4)];
            let text = String::from_utf8_lossy(beginning);
            self.samples.push(text.trim().chars().take(MAX_SAMPLE_CHARS).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_kept_and_all_are_counted() {
        let mut oddities = Oddities::default();
        oddities.garbage("ä".repeat(1_000).as_bytes());
        for _ in 0..100 {
            oddities.garbage(b" starting \xff\r");
        }
        assert_eq!(oddities.garbage, 101);
        assert_eq!(oddities.samples.len(), MAX_SAMPLES);
        assert_eq!(oddities.samples[0], "ä".repeat(MAX_SAMPLE_CHARS));
        assert_eq!(oddities.samples[1], "starting \u{fffd}");
    }
}
