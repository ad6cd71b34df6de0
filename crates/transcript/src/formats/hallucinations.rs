//! What recognisers write where nobody speaks: the last words of the videos that they learned from.

use super::captions::Captions;
use crate::turn::Turn;

/// Never said, and only ever a whole caption.
const NEVER_SAID: &[&str] = &[
    "legendas pela comunidade amara.org",
    "napisy stworzone przez społeczność amara.org",
    "ondertitels ingediend door de amara.org gemeenschap",
    "ondertiteling door de amara.org gemeenschap",
    "sottotitoli creati dalla comunità amara.org",
    "sous-titres fait par sous-titres par amara.org",
    "sous-titres par la communauté d'amara.org",
    "sous-titres réalisés para la communauté d'amara.org",
    "sous-titres réalisés par la communauté d'amara.org",
    "sous-titrage société radio-canada",
    "subtitles by the amara.org community",
    "subtítulos por la comunidad de amara.org",
    "subtítulos realizados por la comunidad de amara.org",
    "transcription by castingwords",
    "untertitel der amara.org-community",
    "untertitel im auftrag des zdf für funk, 2017",
    "untertitelung des zdf, 2020",
    "untertitelung. br 2018",
];

/// Said at the end of a video, once. At its beginning or several times, nobody said it.
const SAID_ONCE: &[&str] = &[
    "bis zum nächsten mal",
    "danke fürs zuschauen",
    "gracias por ver el video",
    "merci d'avoir regardé",
    "merci d'avoir regardé cette vidéo",
    "please subscribe to my channel",
    "please subscribe",
    "thank you for watching",
    "thank you so much for watching",
    "thanks for watching",
    "vielen dank fürs zuschauen",
    "¡gracias por ver el video",
    "ご視聴ありがとうございました",
    "시청해주셔서 감사합니다",
];

/// The longest of them, in bytes.
const LONGEST: usize = 64;

/// Takes the captions out that nobody said. They come back as a turn, in case that there is no other.
pub(super) fn remove(lines: &mut Captions) -> Option<Turn> {
    let mut never = Vec::new();
    let mut once = Vec::new();
    let mut first = None;
    for cue in lines.all.chunk_by(|one, other| one.cue == other.cue) {
        let [line] = cue else { continue };
        first = first.or(Some(line.cue));
        let text = lines.text(line);
        if text.len() > LONGEST {
            continue;
        }
        let said = text.trim_end_matches(['.', '!', '?', '…', '。', ' ']);
        // Cheap enough for every short caption only because most differ in length or first letter.
        let is_one_of = |list: &[&str]| list.iter().any(|one| is_same(one, said));
        if is_one_of(NEVER_SAID) {
            never.push(line.cue);
        } else if is_one_of(SAID_ONCE) {
            once.push(line.cue);
        }
    }
    if once.len() > 1 || (!once.is_empty() && once.first() == first.as_ref()) {
        never.append(&mut once);
        never.sort_unstable();
    }
    if never.is_empty() {
        return None;
    }
    let mut turn = Turn::default();
    let all = std::mem::take(&mut lines.all);
    let (gone, kept): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|line| never.binary_search(&line.cue).is_ok());
    for line in &gone {
        turn.say(lines.text(line));
    }
    lines.all = kept;
    Some(turn)
}

fn is_same(one: &str, said: &str) -> bool {
    one.eq_ignore_ascii_case(said)
        || (!said.is_ascii() && one.len() == said.len() && one == said.to_lowercase())
}
