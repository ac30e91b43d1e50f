use serde_json::json;

use super::*;

#[track_caller]
fn check(content: Value, expected: Result<(&str, usize), Code>) {
    let found = read(Some(&content), 20, &mut Blobs::default());
    let found = found
        .as_ref()
        .map(|(words, files)| (words.as_str(), files.len()));
    assert_eq!(found.map_err(|code| *code), expected, "{content}");
}

fn only(content: Value) -> Inline {
    read(Some(&content), 20, &mut Blobs::default())
        .unwrap()
        .1
        .remove(0)
}

#[test]
fn words_come_in_every_form_that_clients_write() {
    check(json!("hi\r\nthere"), Ok(("hi\nthere", 0)));
    check(json!({ "text": "hi" }), Ok(("hi", 0)));
    check(json!(["hi"]), Ok(("hi", 0)));
    check(
        json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]),
        Ok(("a\nb", 0)),
    );
}

#[test]
fn pictures_and_files_come_along() {
    let url = "data:image/png;base64,iVBORw==";
    for content in [
        json!([{ "type": "image_url", "image_url": { "url": url } }]),
        json!([{ "type": "image_url", "image_url": url }]),
        json!([{ "type": "image_url", "url": url }]),
    ] {
        let picture = only(content);
        assert_eq!(picture.declared.as_deref(), Some("image/png"));
        assert_eq!(&*picture.bytes, b"\x89PNG");
    }
    let file = json!({ "filename": "a.txt", "mimeType": "text/plain; charset=utf-8", "content": "data:x" });
    for content in [
        json!([{ "type": "file", "file": file }]),
        json!([{
            "type": "file", "filename": "a.txt", "mimeType": "text/plain", "content": "data:x",
        }]),
    ] {
        let file = only(content);
        assert_eq!(
            (file.name.as_deref(), file.declared.as_deref()),
            (Some("a.txt"), Some("text/plain"))
        );
        assert_eq!(&*file.bytes, b"data:x");
    }
    let file = only(
        json!([{ "type": "file", "file": { "content": "data:application/pdf;base64,JVBERg==",
        "mimeType": "application/pdf" } }]),
    );
    assert_eq!(&*file.bytes, b"%PDF");
}

#[test]
fn what_is_wrong_has_a_code() {
    for (content, code) in [
        (json!(null), Code::BadFrame),
        (json!(7), Code::BadFrame),
        (json!([7]), Code::BadFrame),
        (json!([{}]), Code::BadFrame),
        (json!([{ "type": "text" }]), Code::BadFrame),
        (json!([{ "type": "text", "text": " " }]), Code::Empty),
        (json!([]), Code::Empty),
        (json!("123456789012345678901"), Code::TooLong),
        (json!([{ "type": "hologram" }]), Code::UnknownPart),
        (json!(["__BINARY__"]), Code::BadCount),
        (json!(vec![json!("a"); 65]), Code::BadCount),
        (json!([{ "type": "image_url" }]), Code::BadFrame),
        (
            json!([{ "type": "image_url", "url": "https://x.example/a.png" }]),
            Code::BadFile,
        ),
        (
            json!([{ "type": "image_url", "url": "data:image/png;base64,@@" }]),
            Code::BadFile,
        ),
        (
            json!([{ "type": "image_url", "url": "data:image/png;base64," }]),
            Code::BadFile,
        ),
        (
            json!([{ "type": "image_url", "url": "data:text/html;base64,YQ==" }]),
            Code::BadFile,
        ),
        (json!([{ "type": "file", "file": {} }]), Code::BadFrame),
        (
            json!([{ "type": "file", "file": { "content": "" } }]),
            Code::BadFile,
        ),
        (
            json!([{ "type": "file", "file": { "content": "a\u{0}b" } }]),
            Code::BadFile,
        ),
        (
            json!([{ "type": "file", "file": { "content": "x", "filename": 1 } }]),
            Code::BadFrame,
        ),
        (
            json!([{ "type": "file", "file": { "content": "x", "mimeType": "application/pdf" } }]),
            Code::BadFile,
        ),
    ] {
        check(content, Err(code));
    }
    let picture = json!({ "type": "image_url", "url": "data:image/png;base64,YQ==" });
    check(json!(vec![picture; 11]), Err(Code::BadCount));
}
