//! Whether a file is what its name and its sender say, and whether files of such a name are taken at all.
//!
//! Owns the two lists of endings. What a file is the gateway finds out by its content; this only compares. Pure.

use weirgate_sdk::AttachmentKind;

/// Endings of what a system runs when somebody opens it: a file that is passed on must not be one.
const RUNS: [&str; 25] = [
    "apk", "app", "bat", "cmd", "com", "cpl", "deb", "dll", "dmg", "exe", "hta", "jar", "lnk",
    "msi", "msix", "pif", "pkg", "ps1", "reg", "rpm", "scr", "url", "vbe", "vbs", "wsf",
];
const PICTURES: [&str; 9] = [
    "avif", "bmp", "gif", "heic", "ico", "jpeg", "jpg", "png", "webp",
];
const SOUNDS_AND_FILMS: [&str; 13] = [
    "aac", "avi", "flac", "m4a", "mkv", "mov", "mp3", "mp4", "mpeg", "oga", "ogg", "wav", "webm",
];
const TEXTS: [&str; 7] = ["csv", "html", "json", "md", "svg", "txt", "xml"];

/// Whether files of this name are taken.
pub(crate) fn is_taken(name: Option<&str>) -> bool {
    // Windows drops dots and spaces at the end, and then the ending before them counts.
    let name = name.map(|name| name.trim_end_matches(['.', ' ']));
    ending(name).is_none_or(|ending| !RUNS.contains(&ending.as_str()))
}

/// Whether a file of this kind, found by its content, is what its name and the media type that its sender gives say.
/// Names and types that say nothing of a kind fit to all.
pub(crate) fn fits(name: Option<&str>, declared: Option<&str>, kind: AttachmentKind) -> bool {
    let by_name = ending(name).and_then(|ending| of_ending(&ending));
    let by_type = declared.and_then(of_type);
    [by_name, by_type]
        .into_iter()
        .flatten()
        .all(|said| said == Said::of(kind))
}

/// What can be said of a file. A sound and a film are not told apart: they come in the same containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Picture,
    SoundOrFilm,
    Other,
}

impl Said {
    fn of(kind: AttachmentKind) -> Self {
        match kind {
            AttachmentKind::Image => Self::Picture,
            AttachmentKind::Audio | AttachmentKind::Video => Self::SoundOrFilm,
            AttachmentKind::File => Self::Other,
        }
    }
}

fn of_ending(ending: &str) -> Option<Said> {
    if PICTURES.contains(&ending) {
        Some(Said::Picture)
    } else if SOUNDS_AND_FILMS.contains(&ending) {
        Some(Said::SoundOrFilm)
    } else {
        TEXTS.contains(&ending).then_some(Said::Other)
    }
}

fn of_type(declared: &str) -> Option<Said> {
    let (kind, form) = declared.split_once('/')?;
    match kind {
        // A drawing is a text, and is kept as one.
        "image" if form.starts_with("svg") => Some(Said::Other),
        "image" => Some(Said::Picture),
        "audio" | "video" => Some(Said::SoundOrFilm),
        "text" => Some(Said::Other),
        _ => None,
    }
}

fn ending(name: Option<&str>) -> Option<String> {
    let (_, ending) = name?.rsplit_once('.')?;
    Some(ending.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_not_taken_however_their_ending_is_written() {
        for name in [
            "a.exe",
            "a.EXE",
            "photo.png.exe",
            "a.exe.",
            "a.bat . ",
            ".lnk",
        ] {
            assert!(!is_taken(Some(name)), "{name}");
        }
        for name in ["a.png", "exe", "a.exe.txt", "README", "我的.pdf"] {
            assert!(is_taken(Some(name)), "{name}");
        }
        assert!(is_taken(None));
    }

    #[test]
    fn a_file_is_what_it_says() {
        use AttachmentKind::{Audio, File, Image, Video};
        for (name, declared, kind, fit) in [
            (Some("a.png"), Some("image/png"), Image, true),
            (Some("a.PNG"), None, File, false),
            (Some("a.txt"), None, Image, false),
            (Some("a.txt"), Some("text/plain"), File, true),
            (None, Some("image/*"), File, false),
            (None, Some("audio/webm"), Video, true),
            (Some("a.mp3"), None, Audio, true),
            (Some("a.mp3"), None, File, false),
            (Some("a.svg"), Some("image/svg+xml"), File, true),
            (Some("a.pdf"), Some("application/pdf"), File, true),
            (Some("a.bin"), Some("application/octet-stream"), Image, true),
            (None, None, Image, true),
        ] {
            assert_eq!(
                fits(name, declared, kind),
                fit,
                "{name:?} {declared:?} {kind:?}"
            );
        }
    }
}
