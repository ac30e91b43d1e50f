//! The content of `chat`: words, pictures and files in one message.
//!
//! Owns which parts there are and how each brings its content: as a text, as a data URL, or in a place for a blob of
//! the frame. It never fetches an address: what a client wants to show it sends along. Pure.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::{
    Inline, MAX_FILES,
    binary::{Blobs, PLACE},
    checked, clean,
};
use crate::texts::Code;

/// Most parts of one message.
const MAX_PARTS: usize = 64;
/// What is said of a picture whose type the client does not name.
const PICTURE: &str = "image/*";
/// What a file is whose content is a text.
const TEXT: &str = "text/plain";

/// The words and the files of a message.
pub(super) fn read(
    content: Option<&Value>,
    max_message: usize,
    blobs: &mut Blobs,
) -> Result<(String, Vec<Inline>), Code> {
    let one;
    let parts = match content {
        Some(Value::Array(parts)) => parts.as_slice(),
        // As `text` takes it.
        Some(Value::Object(object)) if object.contains_key("text") => {
            one = [object.get("text").cloned().unwrap_or_default()];
            &one
        }
        Some(text @ Value::String(_)) => std::slice::from_ref(text),
        _ => return Err(Code::BadFrame),
    };
    if parts.len() > MAX_PARTS {
        return Err(Code::BadCount);
    }
    let (mut words, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        match read_part(part, blobs)? {
            Part::Words(text) => words.push(text),
            Part::File(file) => files.push(file),
        }
    }
    if files.len() > MAX_FILES {
        return Err(Code::BadCount);
    }
    let words = checked(words.join("\n"), max_message, !files.is_empty())?;
    Ok((words, files))
}

enum Part {
    Words(String),
    File(Inline),
}

fn read_part(part: &Value, blobs: &mut Blobs) -> Result<Part, Code> {
    let fields = match part {
        Value::String(place) if place == PLACE => {
            return Ok(Part::File(Inline {
                name: None,
                declared: None,
                bytes: blobs.take()?,
            }));
        }
        Value::String(text) => return Ok(Part::Words(clean(text))),
        Value::Object(fields) => fields,
        _ => return Err(Code::BadFrame),
    };
    let kind = fields.get("type").and_then(Value::as_str);
    match kind.ok_or(Code::BadFrame)? {
        "text" => {
            let text = fields.get("text").and_then(Value::as_str);
            Ok(Part::Words(clean(text.ok_or(Code::BadFrame)?)))
        }
        "image_url" => picture(inner(fields, "image_url"), blobs).map(Part::File),
        "file" => file(inner(fields, "file"), blobs).map(Part::File),
        _ => Err(Code::UnknownPart),
    }
}

/// What a part says of itself: in a field of its type's name, or beside the type.
fn inner<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a Map<String, Value> {
    fields
        .get(name)
        .and_then(Value::as_object)
        .unwrap_or(fields)
}

fn picture(fields: &Map<String, Value>, blobs: &mut Blobs) -> Result<Inline, Code> {
    // An address alone is also written without the object around it.
    let url = fields.get("url").or_else(|| fields.get("image_url"));
    let url = url.and_then(Value::as_str).ok_or(Code::BadFrame)?;
    let (declared, bytes) = if url == PLACE {
        (PICTURE.to_owned(), blobs.take()?)
    } else {
        data_url(url).ok_or(Code::BadFile)?
    };
    let name = name(fields)?;
    if !declared.starts_with("image/") {
        return Err(Code::BadFile);
    }
    Ok(Inline {
        name,
        declared: Some(declared),
        bytes,
    })
}

fn file(fields: &Map<String, Value>, blobs: &mut Blobs) -> Result<Inline, Code> {
    let declared = match fields.get("mimeType") {
        None | Some(Value::Null) => None,
        Some(Value::String(kind)) => Some(media_type(kind)),
        Some(_) => return Err(Code::BadFrame),
    };
    let content = fields.get("content").and_then(Value::as_str);
    let content = content.ok_or(Code::BadFrame)?;
    let (declared, bytes) = if content == PLACE {
        (declared, blobs.take()?)
    } else if declared.as_deref().is_none_or(is_textual) {
        // A text is what it is, also one that looks like a data URL.
        let text = Bytes::copy_from_slice(content.as_bytes());
        (declared.or_else(|| Some(TEXT.to_owned())), text)
    } else {
        let (kind, bytes) = data_url(content).ok_or(Code::BadFile)?;
        (declared.or(Some(kind)), bytes)
    };
    if bytes.is_empty() || declared.as_deref().is_some_and(is_textual) && !is_text(&bytes) {
        return Err(Code::BadFile);
    }
    Ok(Inline {
        name: name(fields)?,
        declared,
        bytes,
    })
}

fn name(fields: &Map<String, Value>) -> Result<Option<String>, Code> {
    match fields.get("filename") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(Code::BadFrame),
    }
}

/// The type and the content of `data:TYPE;base64,…`; `None` for anything else.
fn data_url(url: &str) -> Option<(String, Bytes)> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let bytes = STANDARD
        .decode(data)
        .ok()
        .filter(|bytes| !bytes.is_empty())?;
    Some((media_type(kind), bytes.into()))
}

/// A media type without its parameters.
fn media_type(kind: &str) -> String {
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Types whose content is a text, whatever is in it.
fn is_textual(kind: &str) -> bool {
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || matches!(
            kind,
            "application/json" | "application/xml" | "application/yaml"
        )
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0)
}

#[cfg(test)]
mod tests;
