//! The beginning of an answer that is too long to be shown at once.
//!
//! Owns the cut. It stands between blocks, or in the first one, so that no mark is left open; it is not where the answer
//! is going to be split.

use weirgate_sdk::answer::{Block, Inline, Render, plain_text};

use crate::format::Markdown;

/// As much of an answer as one message holds.
#[must_use]
pub fn clip(format: &Markdown, blocks: &[Block]) -> String {
    let whole = format.render(blocks);
    if format.fits(&whole) {
        return whole.text;
    }
    let rendered = |count: usize| format.render(blocks.get(..count).unwrap_or_default());
    // Whatever fits, all that is shorter fits too.
    let counts: Vec<usize> = (1..blocks.len()).collect();
    let fitting = counts.partition_point(|count| format.fits(&rendered(*count)));
    match (fitting, blocks.first()) {
        (0, Some(first)) => beginning(format, first),
        _ => rendered(fitting).text,
    }
}

/// The beginning of one block: code as code, anything else as its words.
fn beginning(format: &Markdown, block: &Block) -> String {
    let shorter = |text: &str, end: usize| text.get(..end).unwrap_or_default().to_owned();
    let (text, make): (String, Box<dyn Fn(String) -> Block>) = match block {
        Block::Code { language, text } => {
            let language = language.clone();
            let make = move |text| Block::Code {
                language: language.clone(),
                text,
            };
            (text.clone(), Box::new(make))
        }
        Block::Paragraph(content) | Block::Heading { content, .. } => {
            (plain_text(content), Box::new(words))
        }
        // Its form would be nothing without its end.
        _ => return String::new(),
    };
    let ends: Vec<usize> = text.char_indices().map(|(index, _)| index).collect();
    let fits = |end: &usize| format.fits(&format.render(&[make(shorter(&text, *end))]));
    let fitting = ends.partition_point(fits);
    let end = fitting.checked_sub(1).and_then(|last| ends.get(last));
    let block = make(shorter(&text, end.copied().unwrap_or(0)));
    format.render(&[block]).text
}

fn words(text: String) -> Block {
    Block::Paragraph(vec![Inline::Text(text)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_without_an_open_mark_is_shown() {
        let format = Markdown::new(64);
        let bold =
            |count| Block::Paragraph(vec![Inline::Strong(vec![Inline::Text("b".repeat(count))])]);
        assert_eq!(
            clip(&format, &[bold(10), bold(60)]),
            format!("**{}**", "b".repeat(10))
        );
        assert_eq!(
            clip(&format, &[bold(10), bold(10)]).matches("**").count(),
            4
        );
        assert_eq!(clip(&format, &[bold(100)]), "b".repeat(64));
        let code = Block::Code {
            language: Some("rust".into()),
            text: "x\n".repeat(100),
        };
        let shown = clip(&format, &[code]);
        assert!(
            shown.starts_with("```rust\n") && shown.ends_with("```"),
            "{shown}"
        );
        assert!(shown.chars().count() <= 64, "{shown}");
        let list = Block::List {
            start: None,
            items: vec![vec![bold(100)]],
        };
        assert_eq!(clip(&format, &[list]), "");
        assert_eq!(clip(&format, &[]), "");
    }
}
