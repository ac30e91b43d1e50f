use super::*;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn round(path: &str, arguments: Value) -> String {
    let bytes = made(path, &object(arguments)).unwrap();
    read(&bytes, "").unwrap().unwrap()
}

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let parts: Vec<(String, String)> = parts
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    packed(&parts).unwrap()
}

#[test]
fn a_text_document_says_what_it_was_made_of() {
    let markdown = "# Report\n\nOne **bold** and *fine* [page](https://example.com/?a=1&b=2) <tag> & 你好\n\n- first\n- second\n   \
                    - below\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | x\\|y |\n\n> quoted\n\n```\nlet x = 1;\n```\n";
    let said = round("a.docx", json!({ "markdown": markdown }));
    let expected = "# Report\n\nOne bold and fine [page](https://example.com/?a=1&b=2) <tag> & 你好\n\n- first\n- second\n   \
                    - below\n1. one\n1. two\n\n| a | b |\n| --- | --- |\n| 1 | x\\|y |\n\nquoted\n\nlet x = 1;";
    assert_eq!(said, expected);
    assert_eq!(
        made("a.docx", &object(json!({ "markdown": "x" }))),
        made("a.docx", &object(json!({ "markdown": "x" })))
    );
}

#[test]
fn a_workbook_holds_its_rows() {
    let sheets = json!({ "sheets": [
        { "name": "Sales: 2026/Q1", "rows": [["what", "n", "ok"], ["tea & <b>", 1.5, true], ["=1+1", null, "0012"]] },
        { "name": "sales 2026Q1", "rows": [["x"]] },
    ]});
    let said = round("a.xlsx", sheets.clone());
    assert_eq!(
        said,
        "## Sales 2026Q1\n\n| what | n | ok |\n| --- | --- | --- |\n| tea & <b> | 1.5 | TRUE |\n| =1+1 |  | 0012 |\n\n\
         ## Sheet2\n\n| x |\n| --- |"
    );
    let bytes = made("a.xlsx", &object(sheets)).unwrap();
    assert_eq!(
        read(&bytes, "Sheet2").unwrap().unwrap(),
        "## Sheet2\n\n| x |\n| --- |"
    );
    assert_eq!(read(&bytes, "none").unwrap(), None);
    let csv = "name,zip,note\r\nAnn,00123,\"a, \"\"b\"\"\nc\"\nBob,7,";
    assert_eq!(
        round("b.xlsx", json!({ "csv": csv })),
        "## Sheet1\n\n| name | zip | note |\n| --- | --- | --- |\n| Ann | 00123 | a, \"b\"<br>c |\n| Bob | 7 |  |"
    );
    assert!(made("b.xlsx", &object(json!({ "csv": "\"open" }))).is_err());
    assert!(made("b.xlsx", &object(json!({}))).is_err());
}

#[test]
fn slides_have_titles_and_points() {
    let slides = json!({ "slides": [{ "title": "Plan & more", "bullets": ["first", "  below", "- second"] }, { "title": "End" }] });
    let said = round("a.pptx", slides);
    assert_eq!(
        said,
        "## 1. Plan & more\n\n- first\n  - below\n- second\n\n## 2. End"
    );
    let said = round(
        "a.pptx",
        json!({ "markdown": "# One\n- **a**\n  - b\n\n## Two\ntext" }),
    );
    assert_eq!(said, "## 1. One\n\n- a\n  - b\n\n## 2. Two\n\n- text");
    assert!(made("a.pptx", &object(json!({ "slides": [] }))).is_err());
}

#[test]
fn what_stands_beside_the_text_is_read_and_marked() {
    let root = r#"<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let of = |id: &str, kind: &str, part: &str| {
        format!(r#"<Relationship Id="{id}" Type="x/{kind}" Target="{part}.xml"/>"#)
    };
    let relations = [
        of("a", "header", "header1"),
        of("b", "header", "header2"),
        of("c", "footer", "footer1"),
        of("d", "footnotes", "footnotes"),
        of("e", "endnotes", "endnotes"),
        of("f", "comments", "comments"),
        of("g", "footer", "absent"),
    ];
    let relations = format!("<Relationships>{}</Relationships>", relations.concat());
    let words = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let header = format!("<w:hdr>{}</w:hdr>", words("Secret draft"));
    let footer = format!("<w:ftr>{}{}</w:ftr>", words("Page one"), words("of two"));
    let footnotes = format!(
        r#"<w:footnotes><w:footnote w:type="separator" w:id="-1">{}</w:footnote><w:footnote w:id="1"><w:p><w:r><w:footnoteRef/></w:r>
        <w:r><w:t>See </w:t></w:r><w:hyperlink r:id="l"><w:r><w:t>here</w:t></w:r></w:hyperlink></w:p></w:footnote></w:footnotes>"#,
        words("----")
    );
    let own = r#"<Relationships><Relationship Id="l" Type="x/hyperlink" Target="https://example.com/" TargetMode="External"/></Relationships>"#;
    let endnotes = format!(
        r#"<w:endnotes><w:endnote w:id="1">{}</w:endnote></w:endnotes>"#,
        words("At last")
    );
    let comments = format!(
        r#"<w:comments><w:comment w:id="0" w:author="Ann">{}</w:comment><w:comment w:id="3">{}</w:comment></w:comments>"#,
        words("Really?"),
        words("")
    );
    let document = r#"<w:document><w:body><w:p><w:r><w:t>Tea</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:t> is hot</w:t>
        </w:r><w:r><w:endnoteReference w:id="1"/></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p></w:body></w:document>"#;
    let bytes = package(&[
        ("_rels/.rels", root),
        ("word/document.xml", document),
        ("word/_rels/document.xml.rels", &relations),
        ("word/header1.xml", &header),
        ("word/header2.xml", &header),
        ("word/footer1.xml", &footer),
        ("word/footnotes.xml", &footnotes),
        ("word/_rels/footnotes.xml.rels", own),
        ("word/endnotes.xml", &endnotes),
        ("word/comments.xml", &comments),
    ]);
    assert_eq!(
        read(&bytes, "").unwrap().unwrap(),
        "Tea[^1] is hot[^end1][comment 0]\n\n[header] Secret draft\n\n[footer] Page one\n\nof two\n\n\
         [^1]: See [here](https://example.com/)\n\n[^end1]: At last\n\n[comment 0 by Ann]: Really?"
    );
}

const ROOT: &str = r#"<Relationships><Relationship Id="r" Type="x/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const BOOK: &str = r#"<workbook xmlns:r="x"><workbookPr/><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>"#;
const RELATIONS: &str = r#"<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/s.xml"/>
    <Relationship Id="b" Type="x/sharedStrings" Target="/xl/strings.xml"/>
    <Relationship Id="c" Type="x/styles" Target="styles.xml"/></Relationships>"#;

#[test]
fn a_workbook_of_others_is_read_with_dates_formulas_and_gaps() {
    let bytes = package(&[
        ("_rels/.rels", ROOT),
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        (
            "xl/strings.xml",
            "<sst><si><t>day</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>x</t></rPh></si></sst>",
        ),
        (
            "xl/styles.xml",
            r#"<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm"/></numFmts><cellStyleXfs><xf
            numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>"#,
        ),
        (
            "xl/worksheets/s.xml",
            r#"<worksheet><sheetData><row r="2"><c r="B2" t="s"><v>0</v></c><c r="D2" t="s"><v>1</v></c></row>
            <row r="9"><c r="B9" s="1"><v>45658</v></c><c r="C9" s="2"><f>SUM(A1)</f><v>45658.5</v></c><c r="D9" s="0"><v>45658</v></c>
            <c r="XFD1048576"><v>7</v></c><c r="E9" t="e"><v>#REF!</v></c><c r="F9" t="str"><v>s</v></c></row></sheetData></worksheet>"#,
        ),
    ]);
    let said = read(&bytes, "").unwrap().unwrap();
    assert_eq!(
        said,
        "## S\n\n|  | day |  | rich |  |  |\n| --- | --- | --- | --- | --- | --- |\n\
         |  | 2025-01-01 | 2025-01-01 12:00:00 | 45658 | #REF! | s |"
    );
}

#[test]
fn what_is_huge_inside_or_none_at_all_is_refused() {
    let large = format!("<worksheet>{}</worksheet>", " ".repeat(60 << 20));
    let bytes = package(&[
        ("_rels/.rels", ROOT),
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/s.xml", &large),
    ]);
    assert!(
        bytes.len() < 1 << 20,
        "it is small outside: {}",
        bytes.len()
    );
    assert_eq!(read(&bytes, ""), Err(Error::TooLarge));
    let many: Vec<(String, String)> = (0..5_000)
        .map(|n| (format!("p{n}"), String::new()))
        .collect();
    assert_eq!(read(&packed(&many).unwrap(), ""), Err(Error::TooLarge));
    let bomb = r#"<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">]><workbook>&a;</workbook>"#;
    let bytes = package(&[("_rels/.rels", ROOT), ("xl/workbook.xml", bomb)]);
    assert_eq!(read(&bytes, ""), Err(Error::Damaged));
    let deep = format!("<workbook>{}", "<a>".repeat(10_000));
    let bytes = package(&[("_rels/.rels", ROOT), ("xl/workbook.xml", &deep)]);
    assert_eq!(read(&bytes, ""), Err(Error::TooLarge));
    assert_eq!(read(b"no zip at all", ""), Err(Error::Damaged));
    assert_eq!(
        read(&[0xd0, 0xcf, 0x11, 0xe0, 0, 0], ""),
        Err(Error::Locked)
    );
    assert_eq!(read(&package(&[("a.txt", "x")]), ""), Err(Error::Unknown));
    let whole = package(&[("_rels/.rels", ROOT), ("xl/workbook.xml", BOOK)]);
    for at in 0..whole.len() {
        // Whatever is cut off or turned over: an answer or a fault, never a panic.
        let _ = read(&whole[..at], "");
        let mut turned = whole.clone();
        turned[at] ^= 0x55;
        let _ = read(&turned, "");
    }
}
