//! The parts that every made document has beside its words: what its parts are, how they hang together, its styles.
//!
//! Owns names and relations of parts, and a plain look. Pure.

use std::fmt::Write as _;

use super::xml::escaped;

/// The beginning of every part.
pub(super) const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
/// The names of a text document's words.
pub(super) const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
     xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
/// What relations are called.
pub(super) const RELATION: &str =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
/// What kinds of parts are called.
pub(super) const KIND: &str = "application/vnd.openxmlformats-officedocument";
/// Most numbered lists that count by themselves.
pub(super) const MAX_LISTS: usize = 1_000;

/// What the parts of a package are: each name with its kind.
pub(super) fn kinds(parts: &[(String, String)]) -> (String, String) {
    let mut text = format!(
        "{HEAD}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" \
         ContentType=\"application/xml\"/>"
    );
    for (name, kind) in parts {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "<Override PartName=\"/{name}\" ContentType=\"{KIND}.{kind}+xml\"/>"
        );
    }
    text.push_str("</Types>");
    ("[Content_Types].xml".to_owned(), text)
}

/// Relations: id, kind, target, and whether it leads outside.
pub(super) fn relations(all: &[(String, &str, String, bool)]) -> String {
    let mut text = format!(
        "{HEAD}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
    );
    for (id, kind, target, outside) in all {
        let mode = if *outside {
            " TargetMode=\"External\""
        } else {
            ""
        };
        let target = escaped(target);
        let _ = write!(
            text,
            "<Relationship Id=\"{id}\" Type=\"{RELATION}/{kind}\" Target=\"{target}\"{mode}/>"
        );
    }
    text.push_str("</Relationships>");
    text
}

/// The relation of a package to its main part.
pub(super) fn root(main: &str) -> (String, String) {
    let all = [("rId1".to_owned(), "officeDocument", main.to_owned(), false)];
    ("_rels/.rels".to_owned(), relations(&all))
}

/// The relation of the n-th link of a document.
pub(super) fn link(number: usize) -> String {
    format!("link{number}")
}

/// The parts of a text document with these words, links and so many numbered lists.
pub(super) fn word(document: &str, links: &[String], lists: usize) -> Vec<(String, String)> {
    let own = |name: &str, kind: &str| {
        (
            format!("word/{name}.xml"),
            format!("wordprocessingml.{kind}"),
        )
    };
    let mut all = vec![
        ("rId1".to_owned(), "styles", "styles.xml".to_owned(), false),
        (
            "rId2".to_owned(),
            "numbering",
            "numbering.xml".to_owned(),
            false,
        ),
    ];
    for (at, to) in links.iter().enumerate() {
        all.push((link(at + 1), "hyperlink", to.clone(), true));
    }
    vec![
        kinds(&[
            own("document", "document.main"),
            own("styles", "styles"),
            own("numbering", "numbering"),
        ]),
        root("word/document.xml"),
        ("word/_rels/document.xml.rels".to_owned(), relations(&all)),
        ("word/document.xml".to_owned(), format!("{HEAD}{document}")),
        ("word/styles.xml".to_owned(), styles()),
        ("word/numbering.xml".to_owned(), numbering(lists)),
    ]
}

fn styles() -> String {
    let mut text = format!(
        "{HEAD}<w:styles {NAMESPACES}><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii=\"Calibri\" \
         w:hAnsi=\"Calibri\" w:eastAsia=\"Microsoft YaHei\" w:cs=\"Calibri\"/><w:sz w:val=\"22\"/></w:rPr></w:rPrDefault>\
         <w:pPrDefault><w:pPr><w:spacing w:after=\"120\" w:line=\"276\" w:lineRule=\"auto\"/></w:pPr></w:pPrDefault>\
         </w:docDefaults><w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/>\
         </w:style>"
    );
    for level in 1..=6 {
        // Half points.
        let size = 40 - 4 * level;
        let outline = level - 1;
        let _ = write!(
            text,
            "<w:style w:type=\"paragraph\" w:styleId=\"Heading{level}\"><w:name w:val=\"heading {level}\"/><w:basedOn \
             w:val=\"Normal\"/><w:next w:val=\"Normal\"/><w:pPr><w:keepNext/><w:spacing w:before=\"240\"/><w:outlineLvl \
             w:val=\"{outline}\"/></w:pPr><w:rPr><w:b/><w:sz w:val=\"{size}\"/></w:rPr></w:style>"
        );
    }
    text.push_str(
        "<w:style w:type=\"paragraph\" w:styleId=\"Quote\"><w:name w:val=\"Quote\"/><w:basedOn w:val=\"Normal\"/><w:pPr>\
         <w:ind w:left=\"567\"/></w:pPr><w:rPr><w:i/></w:rPr></w:style>\
         <w:style w:type=\"paragraph\" w:styleId=\"CodeBlock\"><w:name w:val=\"Code Block\"/><w:basedOn w:val=\"Normal\"/>\
         <w:pPr><w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F2F2F2\"/><w:spacing w:after=\"0\"/></w:pPr><w:rPr>\
         <w:rFonts w:ascii=\"Consolas\" w:hAnsi=\"Consolas\"/><w:sz w:val=\"20\"/></w:rPr></w:style>\
         <w:style w:type=\"character\" w:styleId=\"Code\"><w:name w:val=\"Code\"/><w:rPr><w:rFonts w:ascii=\"Consolas\" \
         w:hAnsi=\"Consolas\"/></w:rPr></w:style>\
         <w:style w:type=\"character\" w:styleId=\"Hyperlink\"><w:name w:val=\"Hyperlink\"/><w:rPr><w:color \
         w:val=\"0563C1\"/><w:u w:val=\"single\"/></w:rPr></w:style>\
         <w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/><w:tblPr><w:tblBorders>",
    );
    for side in ["top", "left", "bottom", "right", "insideH", "insideV"] {
        let _ = write!(
            text,
            "<w:{side} w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"auto\"/>"
        );
    }
    text.push_str("</w:tblBorders></w:tblPr></w:style></w:styles>");
    text
}

/// Two forms of lists, and of the numbered form one list for each that counts by itself.
fn numbering(lists: usize) -> String {
    let mut text = format!("{HEAD}<w:numbering {NAMESPACES}>");
    for (form, kind) in [(0, "bullet"), (1, "decimal")] {
        let _ = write!(text, "<w:abstractNum w:abstractNumId=\"{form}\">");
        for level in 0..9 {
            let shown = if form == 0 {
                "•".to_owned()
            } else {
                format!("%{}.", level + 1)
            };
            let left = 720 * (level + 1);
            let _ = write!(
                text,
                "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{kind}\"/><w:lvlText \
                 w:val=\"{shown}\"/><w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"{left}\" w:hanging=\"360\"/></w:pPr>\
                 </w:lvl>"
            );
        }
        text.push_str("</w:abstractNum>");
    }
    text.push_str("<w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>");
    for list in 0..lists.min(MAX_LISTS) {
        let number = list + 2;
        let _ = write!(
            text,
            "<w:num w:numId=\"{number}\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride \
             w:val=\"1\"/></w:lvlOverride></w:num>"
        );
    }
    text.push_str("</w:numbering>");
    text
}
