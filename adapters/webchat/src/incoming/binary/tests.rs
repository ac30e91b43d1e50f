use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::incoming::{Inline, Request, read_binary};

/// A frame of this head and these blobs, with a length of one's own.
fn frame(length: usize, head: &str, blobs: &[&[u8]]) -> Bytes {
    let mut bytes = u32::try_from(length).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend(blobs.concat());
    bytes.into()
}

fn head(content: Value, sizes: Value) -> String {
    json!({ "type": "chat", "messageId": "m1", "content": content, "binary_sizes": sizes })
        .to_string()
}

#[track_caller]
fn check(bytes: &Bytes, code: Code) {
    let read = read_binary(bytes, 100).map_err(|fault| fault.code);
    assert_eq!(read.err(), Some(code), "{bytes:?}");
}

fn picture() -> Value {
    json!({ "type": "image_url", "image_url": { "url": PLACE } })
}

#[test]
fn blobs_take_their_places_in_order() {
    let content = json!([
        { "type": "text", "text": "look" },
        picture(),
        { "type": "file", "file": { "filename": "a.pdf", "mimeType": "application/pdf", "content": PLACE } },
        PLACE,
    ]);
    let head = head(content, json!([2, 3, 1]));
    let line = read_binary(&frame(head.len(), &head, &[b"ab", b"cde", b"f"]), 100).unwrap();
    let file = |name: Option<&str>, declared: Option<&str>, bytes: &'static [u8]| Inline {
        name: name.map(str::to_owned),
        declared: declared.map(str::to_owned),
        bytes: Bytes::from_static(bytes),
    };
    let expected = Request::Chat {
        message: "m1".into(),
        text: "look".into(),
        files: vec![
            file(None, Some("image/*"), b"ab"),
            file(Some("a.pdf"), Some("application/pdf"), b"cde"),
            file(None, None, b"f"),
        ],
    };
    assert_eq!(line.request, expected);
}

#[test]
fn a_head_alone_is_a_line() {
    let head = r#"{"type":"ping"}"#;
    let line = read_binary(&frame(head.len(), head, &[]), 100).unwrap();
    assert_eq!(line.request, Request::Ping);
}

#[test]
fn what_does_not_fit_is_told_by_its_code() {
    let good = head(json!([picture()]), json!([2]));
    for short in [&b""[..], b"\0", b"\0\0\0"] {
        check(&Bytes::copy_from_slice(short), Code::BadLength);
    }
    check(&frame(good.len() + 10, &good, &[b"ab"]), Code::BadLength);
    check(
        &frame(usize::try_from(u32::MAX).unwrap(), &good, &[]),
        Code::BadLength,
    );
    check(&frame(good.len() - 1, &good, &[b"ab"]), Code::BadFrame);
    check(&frame(0, &good, &[b"ab"]), Code::BadFrame);
    for data in [&b"a"[..], b"abc", b""] {
        check(&frame(good.len(), &good, &[data]), Code::BadSize);
    }
    for (content, sizes, data, code) in [
        (json!([picture()]), json!([]), &b""[..], Code::BadCount),
        (
            json!([picture(), picture()]),
            json!([2]),
            b"ab",
            Code::BadCount,
        ),
        (json!([picture()]), json!([1, 1]), b"ab", Code::BadCount),
        (json!("words"), json!([2]), b"ab", Code::BadCount),
        (
            json!([picture()]),
            json!(vec![1; 11]),
            b"aaaaaaaaaaa",
            Code::BadCount,
        ),
        (json!([picture()]), json!([0]), b"", Code::BadSize),
        (json!([picture()]), json!([-2]), b"ab", Code::BadSize),
        (json!([picture()]), json!(["2"]), b"ab", Code::BadSize),
        (json!([picture()]), json!([2.5]), b"ab", Code::BadSize),
        (json!([picture()]), json!(2), b"ab", Code::BadSize),
        (
            json!([picture()]),
            json!([u64::MAX, 2]),
            b"ab",
            Code::BadSize,
        ),
    ] {
        let head = head(content, sizes);
        check(&frame(head.len(), &head, &[data]), code);
    }
    let other = r#"{"type":"text","messageId":"m1","content":"x","binary_sizes":[1]}"#;
    check(&frame(other.len(), other, &[b"a"]), Code::BadCount);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused_without_harm(bytes: Vec<u8>, length in 0_usize..64, tail: Vec<u8>) {
        let _ = read_binary(&bytes.clone().into(), 20);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = read_binary(&frame(length, &text, &[&tail]), 20);
    }

    /// Whatever the sizes say: either each blob is exactly as long as it says and nothing is left, or it is refused.
    #[test]
    fn no_byte_is_taken_for_another(
        sizes in prop::collection::vec(0_usize..20, 0..12),
        places in 0_usize..12,
        data in prop::collection::vec(any::<u8>(), 0..120),
    ) {
        let head = head(json!(vec![picture(); places]), json!(sizes));
        let read = read_binary(&frame(head.len(), &head, &[&data]), 20);
        let fits = sizes.iter().sum::<usize>() == data.len()
            && sizes.len() == places
            && (1..=MAX_FILES).contains(&places)
            && !sizes.contains(&0);
        prop_assert_eq!(read.is_ok(), fits);
        if let Ok(line) = read {
            let Request::Chat { files, .. } = line.request else { panic!("not a chat") };
            let lengths: Vec<usize> = files.iter().map(|file| file.bytes.len()).collect();
            prop_assert_eq!(lengths, sizes);
            prop_assert_eq!(files.iter().flat_map(|file| file.bytes.to_vec()).collect::<Vec<u8>>(), data);
        }
    }
}
