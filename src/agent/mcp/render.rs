//! What servers give, as a text for a model.
//!
//! Owns the forms; pure. Pictures, sounds and other bytes are named and never written out, so that no result can fill a
//! context with them.

use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, PromptMessage, ResourceContents, Role,
};

/// Most bytes of a result that are taken.
const MAX_BYTES: usize = 256 * 1024;

/// The text of a call's result.
pub(super) fn call(result: &CallToolResult) -> String {
    let mut text = blocks(&result.content);
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

fn blocks(content: &[ContentBlock]) -> String {
    let parts: Vec<String> = content.iter().map(block).collect();
    parts.join("\n")
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

/// The beginning of a text, cut at a character.
fn bounded(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let end = (0..=MAX_BYTES)
            .rev()
            .find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push_str("\n[…]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_named_and_not_written_out() {
        let result = CallToolResult::success(vec![
            ContentBlock::text("seen:"),
            ContentBlock::image("QUJD".repeat(100_000), "image/png"),
        ]);
        assert_eq!(
            call(&result),
            "seen:\n[picture image/png, about 300000 bytes, not shown]"
        );
        let mut structured = CallToolResult::success(Vec::new());
        structured.structured_content = Some(serde_json::json!({"sum": 5}));
        assert_eq!(call(&structured), r#"{"sum":5}"#);
    }

    #[test]
    fn a_huge_result_is_cut_at_a_character() {
        let result = CallToolResult::success(vec![ContentBlock::text("好".repeat(MAX_BYTES))]);
        let text = call(&result);
        assert!(text.len() <= MAX_BYTES + 10 && text.ends_with("[…]"));
    }
}
