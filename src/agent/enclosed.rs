//! Which files of a conversation a request carries, and how their bytes get into it.
//!
//! Owns the choice: the newest that a model of the turn takes, within the numbers and bytes of one request. What is not
//! chosen, has expired or is gone stays described in the words. It fetches nothing from a platform.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::sync::OwnedSemaphorePermit;

use super::{
    Agent,
    choice::of_turn,
    heard::Heard,
    history::{Content, Part},
    model::{Enclosed, Medium, Message, Takes},
    turn::{Input, Turn},
};
use crate::{
    media::config::Media,
    store::{History, MediaRow},
};

/// Files of a conversation that are looked up; what is older is only described.
const MAX_LOOKED_UP: usize = 64;
/// How a part of the history begins that names a file; a row without it is not read for files.
const MARK: &str = r#"{"type":"media""#;

/// The files that requests of a turn may carry, by their names in the media store.
pub(super) type Known = HashMap<String, Enclosed>;

impl Agent {
    /// What the models of a turn take beside words.
    pub(super) fn takes(input: &Input, turn: &Turn) -> Takes {
        let chain = of_turn(input, turn);
        let models = chain.models().iter();
        models.fold(Takes::default(), |all, model| all.or(model.takes()))
    }

    /// The files that requests of a turn may carry.
    pub(super) async fn known_files(
        &self,
        input: &Input,
        turn: &Turn,
        (history, heard): (&[History], &Heard),
    ) -> Known {
        let takes = Self::takes(input, turn);
        let Some(store) = self.media.as_ref().filter(|_| takes != Takes::default()) else {
            return Known::new();
        };
        let names = named(history, &heard.media.parts);
        let rows = match store.rows(names.clone()).await {
            Ok(rows) => rows,
            Err(error) => {
                tracing::warn!(%error, "files are left out of a request");
                Vec::new()
            }
        };
        chosen(&names, &rows, takes, &store.settings())
    }

    /// Loads the files of a request into its messages. They count for the memory of all requests until what is given
    /// back is dropped.
    pub(super) async fn load_enclosed(
        &self,
        messages: &mut [Message],
    ) -> Option<OwnedSemaphorePermit> {
        let store = self.media.as_ref()?;
        let files = messages.iter().flat_map(|message| &message.enclosed);
        let files: Vec<(String, u64)> = files.map(|file| (file.id.clone(), file.size)).collect();
        if files.is_empty() {
            return None;
        }
        let loaded = store.load(&files).await;
        let mut bytes = loaded.files.into_iter();
        for message in messages {
            for file in &mut message.enclosed {
                let bytes = bytes.next().flatten();
                let url = bytes
                    .map(|bytes| format!("data:{};base64,{}", file.mime, STANDARD.encode(bytes)));
                file.url = url.map(Arc::from);
            }
            // What is gone meanwhile is still described in the words.
            message.enclosed.retain(|file| file.url.is_some());
        }
        loaded.share
    }
}

/// The files that are named, the newest first, each once.
fn named(history: &[History], newest: &[Part]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    let mut take = |parts: &[Part]| {
        for part in parts.iter().rev() {
            if let Part::Media { reference, .. } = part
                && names.len() < MAX_LOOKED_UP
                && seen.insert(reference.clone())
            {
                names.push(reference.clone());
            }
        }
    };
    take(newest);
    let rows = history.iter().rev();
    for row in rows.filter(|row| row.parts.contains(MARK)) {
        if let Some(content) = Content::decode(&row.parts) {
            take(&content.parts);
        }
    }
    names
}

/// Of the files that are named, the newest first, those that a request carries.
fn chosen(names: &[String], rows: &[MediaRow], takes: Takes, limits: &Media) -> Known {
    let rows: HashMap<&str, &MediaRow> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let (mut pictures, mut others, mut bytes) = (0, 0, 0_u64);
    let mut known = Known::new();
    for row in names.iter().filter_map(|name| rows.get(name.as_str())) {
        let Some(medium) = Medium::of(&row.mime).filter(|medium| takes.has(*medium)) else {
            continue;
        };
        let (count, most) = match medium {
            Medium::Picture => (&mut pictures, limits.images_per_request),
            Medium::Sound | Medium::Document => (&mut others, limits.files_per_request),
        };
        let sum = bytes.saturating_add(row.size);
        if *count >= most || sum > limits.bytes_per_request {
            continue;
        }
        *count += 1;
        bytes = sum;
        let file = Enclosed {
            medium,
            id: row.id.clone(),
            mime: row.mime.clone(),
            name: row.name.clone(),
            size: row.size,
            url: None,
        };
        known.insert(row.id.clone(), file);
    }
    known
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::AttachmentKind;

    use super::*;
    use crate::store::Role;

    fn row(id: &str, mime: &str, size: u64) -> MediaRow {
        MediaRow {
            id: id.into(),
            conversation: 1,
            source: String::new(),
            kind: AttachmentKind::File,
            mime: mime.into(),
            name: None,
            size,
            created_at: 0,
            expires_at: i64::MAX,
        }
    }

    fn part(reference: &str) -> Part {
        Part::Media {
            kind: "file".into(),
            reference: reference.into(),
        }
    }

    #[test]
    fn the_newest_that_a_model_takes_are_chosen_within_numbers_and_bytes() {
        let limits = Media {
            images_per_request: 2,
            files_per_request: 1,
            bytes_per_request: 100,
            ..Media::default()
        };
        let all = Takes {
            pictures: true,
            sounds: true,
            documents: true,
        };
        let rows = [
            row("a", "image/png", 40),
            row("b", "application/zip", 1),
            row("c", "image/webp", 70),
            row("d", "audio/mpeg", 10),
            row("e", "application/pdf", 10),
            row("f", "image/gif", 40),
            row("g", "image/jpeg", 1),
        ];
        let names = ["gone", "a", "b", "c", "d", "e", "f", "g"].map(str::to_owned);
        let ids = |takes| {
            let known = chosen(&names, &rows, takes, &limits);
            let mut ids: Vec<String> = known.into_keys().collect();
            ids.sort();
            ids.concat()
        };
        assert_eq!(ids(all), "adf", "c is too large, e and g are too many");
        let documents = Takes {
            documents: true,
            ..Takes::default()
        };
        assert_eq!(ids(documents), "e");
        assert_eq!(ids(Takes::default()), "");
    }

    #[test]
    fn files_are_named_newest_first_and_once() {
        let row = |parts: Vec<Part>| History {
            role: Role::User,
            turn: 1,
            at: 0,
            parts: Content::person("", "words".into()).with(parts).encode(),
        };
        let history = [row(vec![part("a"), part("b")]), row(vec![part("c")])];
        assert_eq!(
            named(&history, &[part("d"), part("a")]),
            ["a", "d", "c", "b"]
        );
        let many: Vec<Part> = (0..100).map(|number| part(&number.to_string())).collect();
        assert_eq!(named(&[], &many).len(), MAX_LOOKED_UP);
    }
}
