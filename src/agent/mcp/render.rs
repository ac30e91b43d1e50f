//! What servers give, as a text for a model.
//!
//! Owns the forms; pure. Pictures, sounds and other bytes are named and never written out, so that no result can fill a
//! context with them; where they go is [`files`](super::files)'.

use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, PromptMessage, ResourceContents, Role,
};

use super::files::Notes;

/// Most bytes of a result that are taken.
const MAX_BYTES: usize = 256 * 1024;

/// The text of a call's result; `notes` says what became of the files in it.
pub(super) fn call(result: &CallToolResult, notes: &Notes) -> String {
    let part = |(place, content): (usize, &ContentBlock)| match notes.get(&place) {
        Some(note) => format!("[{note}]"),
        None => block(content),
    };
    let parts: Vec<String> = result.content.iter().enumerate().map(part).collect();
    let mut text = parts.join("\n");
    if text.is_empty()
        && let Some(structured) = &result.structured_content
    {
        // Servers put the same into the text where they give both.
        text = structured.to_string();
    }
    bounded(text)
}

/// The text of a resource.
pub(super) fn resource(contents: &[ResourceContents]) -> String {
    let parts: Vec<String> = contents.iter().map(content).collect();
    bounded(parts.join("\n"))
}

/// The text of a prompt: each message behind its speaker.
pub(super) fn prompt(result: &GetPromptResult) -> String {
    let line = |message: &PromptMessage| {
        let speaker = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        format!("{speaker}: {}", block(&message.content))
    };
    let lines: Vec<String> = result.messages.iter().map(line).collect();
    bounded(lines.join("\n"))
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => bytes("picture", Some(&image.mime_type), image.data.len()),
        ContentBlock::Audio(audio) => bytes("sound", Some(&audio.mime_type), audio.data.len()),
        ContentBlock::Resource(embedded) => content(&embedded.resource),
        ContentBlock::ResourceLink(link) => format!("[resource {}: {}]", link.uri, link.name),
        _ => "[something of an unknown kind]".to_owned(),
    }
}

fn content(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => format!("{uri}: {}", bytes("file", mime_type.as_deref(), blob.len())),
        _ => "[something of an unknown kind]".to_owned(),
    }
}

/// Bytes that come as Base64, in a few words.
fn bytes(what: &str, kind: Option<&str>, base64: usize) -> String {
    let kind = kind.unwrap_or("of an unknown kind");
    format!("[{what} {kind}, about {} bytes, not shown]", base64 / 4 * 3)
}

/// A text within the bound: its beginning and its end, cut at characters, with a mark in between. What a program says
/// last is often what matters.
fn bounded(text: String) -> String {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let head = text.floor_char_boundary(MAX_BYTES - MAX_BYTES / 4);
    let tail = text.ceil_char_boundary(text.len() - MAX_BYTES / 4);
    let parts = (text.get(..head), text.get(tail..));
    let (head, tail) = (parts.0.unwrap_or_default(), parts.1.unwrap_or_default());
    format!("{head}\n[…]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(result: &CallToolResult) -> String {
        call(result, &Notes::new())
    }

    #[test]
    fn bytes_are_named_and_not_written_out() {
        let result = CallToolResult::success(vec![
            ContentBlock::text("seen:"),
            ContentBlock::image("QUJD".repeat(100_000), "image/png"),
        ]);
        assert_eq!(
            told(&result),
            "seen:\n[picture image/png, about 300000 bytes, not shown]"
        );
        let notes = Notes::from([(1, "picture-2.png goes out".to_owned())]);
        assert_eq!(call(&result, &notes), "seen:\n[picture-2.png goes out]");
        let mut structured = CallToolResult::success(Vec::new());
        structured.structured_content = Some(serde_json::json!({"sum": 5}));
        assert_eq!(told(&structured), r#"{"sum":5}"#);
    }

    #[test]
    fn a_huge_result_keeps_its_beginning_and_its_end() {
        let huge = |words: &str| format!("first {} last", words.repeat(MAX_BYTES));
        for words in ["好", "a", "a好", "😀"] {
            let text = told(&CallToolResult::success(vec![ContentBlock::text(huge(
                words,
            ))]));
            assert!(text.len() <= MAX_BYTES + 10, "{}", text.len());
            assert!(text.len() > MAX_BYTES - 10, "{}", text.len());
            assert!(text.starts_with("first ") && text.ends_with(" last"));
            assert_eq!(text.matches("\n[…]\n").count(), 1);
        }
        // Of what fits nothing is left out, to the byte.
        for (length, is_whole) in [(MAX_BYTES, true), (MAX_BYTES + 1, false)] {
            let text = bounded("a".repeat(length));
            assert_eq!(text == "a".repeat(length), is_whole);
        }
    }

    #[test]
    fn nothing_goes_around_the_bound() {
        // Many blocks count together.
        let blocks = (0..200).map(|_| ContentBlock::text("word ".repeat(10_000)));
        let many = CallToolResult::success(blocks.collect());
        assert!(told(&many).len() <= MAX_BYTES + 10);
        // What is given a second time as values is not told beside the words, and alone it is bounded as they are.
        let values = serde_json::json!({ "all": "a".repeat(1_000_000) });
        let mut both = CallToolResult::success(vec![ContentBlock::text("short")]);
        both.structured_content = Some(values.clone());
        assert_eq!(told(&both), "short");
        let mut alone = CallToolResult::success(Vec::new());
        alone.structured_content = Some(values);
        let text = told(&alone);
        assert!(text.starts_with("{\"all\":\"aaa") && text.len() <= MAX_BYTES + 10);
    }
}
