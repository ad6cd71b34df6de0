//! Ids as people type them: whole, or so much of the beginning or the end that only one has it.
//!
//! Ids begin with the time, so those of one minute share their beginning: the end tells them apart sooner. The word before
//! the id (`apr_`, `q_`) may be left out, and small letters count as large ones. Programs at the doors give whole ids.

use anyhow::bail;

use super::MAX_LISTED;

/// The fewest characters of an id that are looked for.
const MIN_CHARACTERS: usize = 4;
/// The most ids that are named where several fit.
const MAX_NAMED: usize = 5;
/// The number of characters behind the word.
const ULID_CHARACTERS: usize = 26;

/// A kind of id.
pub struct IdKind {
    /// The word that ids begin with.
    pub prefix: &'static str,
    /// The noun in messages.
    pub noun: &'static str,
    /// The command that lists them.
    pub list: &'static str,
}

/// An id as a person typed it.
enum TypedId {
    /// All of it.
    Whole(String),
    /// Its beginning or its end, without the word before it.
    Part(String),
}

impl IdKind {
    /// Refuses what cannot be an id, or part of one.
    pub fn check(&self, text: &str) -> anyhow::Result<()> {
        self.read(text).map(drop)
    }

    /// The id that a person means; none if there is none that fits. `page` gives the next ids behind one, at most
    /// [`MAX_LISTED`]. A whole id need not exist.
    pub async fn find(
        &self,
        text: &str,
        mut page: impl AsyncFnMut(Option<String>) -> anyhow::Result<Vec<String>>,
    ) -> anyhow::Result<Option<String>> {
        let part = match self.read(text)? {
            TypedId::Whole(id) => return Ok(Some(id)),
            TypedId::Part(part) => part,
        };
        let mut ids = Vec::new();
        loop {
            let next = page(ids.last().cloned()).await?;
            let is_last = next.len() < MAX_LISTED;
            ids.extend(next);
            if is_last {
                return self.only(&part, ids);
            }
        }
    }

    fn read(&self, text: &str) -> anyhow::Result<TypedId> {
        let text = text.trim();
        let Self { prefix, noun, list } = self;
        let part = text.strip_prefix(prefix).unwrap_or(text).to_ascii_uppercase();
        let is_part =
            |one: char| one.is_ascii_alphanumeric() && !matches!(one, 'I' | 'L' | 'O' | 'U');
        if part.is_empty() || part.len() > ULID_CHARACTERS || !part.chars().all(is_part) {
            bail!("`{text}` is not the id of {noun}; `{list}` lists them");
        }
        if part.len() == ULID_CHARACTERS {
            return Ok(TypedId::Whole(format!("{prefix}{part}")));
        }
        if part.len() < MIN_CHARACTERS {
            bail!(
                "`{text}` is too short: type {MIN_CHARACTERS} or more characters of the end, or of the beginning, of an id"
            );
        }
        Ok(TypedId::Part(part))
    }

    /// The one id that a part fits; none if there is none. Of several it names some.
    fn only(
        &self,
        part: &str,
        ids: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Option<String>> {
        let fits = |id: &String| {
            let own = id.strip_prefix(self.prefix).unwrap_or(id);
            own.ends_with(part) || own.starts_with(part)
        };
        let mut fitting: Vec<String> = Vec::new();
        let mut more = 0;
        for id in ids.into_iter().filter(fits) {
            if fitting.len() < MAX_NAMED {
                fitting.push(id);
            } else {
                more += 1;
            }
        }
        if fitting.len() < 2 {
            return Ok(fitting.pop());
        }
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        bail!("`{part}` fits several: {}{more}; type more of the one you mean", fitting.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: IdKind = IdKind { prefix: "apr_", noun: "an approval", list: "toolgate approvals" };
    const IDS: [&str; 3] = [
        "apr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "apr_01ARZ3NDEKTSV4RRFFQ69G5XXX",
        "apr_01BRZ3NDEKTSV4RRFFQ69H5FAV",
    ];

    fn find(text: &str) -> Result<Option<String>, String> {
        let found = match KIND.read(text).map_err(|error| error.to_string())? {
            TypedId::Whole(id) => return Ok(Some(id)),
            TypedId::Part(part) => KIND.only(&part, IDS.map(str::to_owned)),
        };
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn a_part_that_only_one_has_is_enough() {
        for (text, index) in [
            (IDS[0], 0),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", 0),
            ("apr_01arz3ndektsv4rrffq69g5fav", 0),
            ("G5FAV", 0),
            (" g5xxx ", 1),
            ("apr_5XXX", 1),
            ("01BR", 2),
            ("apr_01br", 2),
        ] {
            assert_eq!(find(text), Ok(Some(IDS[index].to_owned())), "{text}");
        }
        assert_eq!(find("5YYY"), Ok(None));
    }

    #[test]
    fn what_fits_several_or_none_is_told() {
        for (text, words) in [
            ("5FAV", "`5FAV` fits several: apr_01ARZ3NDEKTSV4RRFFQ69G5FAV, apr_01BRZ3"),
            ("01AR", "type more of the one you mean"),
            ("FAV", "is too short: type 4 or more"),
            ("", "is not the id of an approval"),
            ("apr_", "is not the id"),
            ("q_5FAV", "is not the id"),
            ("5FAU", "is not the id"),
            ("../5FAV", "is not the id"),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAVX", "is not the id"),
        ] {
            let told = find(text).unwrap_err();
            assert!(told.contains(words), "{text}: {told}");
        }
        let many = (0..30).map(|number| format!("apr_01ARZ3NDEKTSV4RRFFQ69{number:02}5FAV"));
        let told = KIND.only("5FAV", many).unwrap_err().to_string();
        assert!(told.contains(", and 25 more") && told.len() < 400, "{told}");
    }
}
