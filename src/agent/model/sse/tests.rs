use proptest::prelude::*;

use super::*;

/// Name and data of every event, fed in the given slices and then ended.
fn events<'a>(slices: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for slice in slices {
        decoder
            .feed(slice, |event| {
                events.push((event.name.to_owned(), event.data.to_string()))
            })
            .unwrap();
    }
    decoder
        .finish(|event| events.push((event.name.to_owned(), event.data.to_string())))
        .unwrap();
    events
}

fn data(body: &[u8]) -> Vec<String> {
    events([body]).into_iter().map(|(_, data)| data).collect()
}

#[test]
fn a_cut_at_any_byte_changes_nothing() {
    let body =
        "data: {\"content\":\"早上好😀\"}\r\n\r\nevent: x\rdata:a\rdata: b\r\r: note\n\ndata: end"
            .as_bytes();
    let whole = events([body]);
    assert_eq!(whole.len(), 3);
    assert_eq!(whole[0].1, "{\"content\":\"早上好😀\"}");
    for at in 0..=body.len() {
        let (left, right) = body.split_at(at);
        assert_eq!(events([left, right]), whole, "cut at {at}");
    }
    assert_eq!(events(body.chunks(1)), whole, "byte by byte");
}

#[test]
fn lines_end_in_any_of_three_ways() {
    for end in ["\n", "\r", "\r\n"] {
        let body = format!("data: a{end}data: b{end}{end}data: c{end}{end}");
        assert_eq!(data(body.as_bytes()), ["a\nb", "c"], "{end:?}");
    }
}

#[test]
fn comments_and_other_fields_carry_nothing() {
    let body = b": PROCESSING\n\nid: 1\n\nretry: 5\n\nevent: ping\n\nunknown\n\ndata:x\n\n";
    assert_eq!(events([&body[..]]), [(String::new(), "x".to_owned())]);
}

#[test]
fn only_one_space_belongs_to_the_field() {
    assert_eq!(data(b"data:a\n\ndata: b\n\ndata:  c\n\n"), ["a", "b", " c"]);
}

#[test]
fn blank_data_is_an_event_without_words() {
    assert_eq!(data(b"data:\n\ndata\n\ndata: \n\n"), ["", "", ""]);
}

#[test]
fn a_name_belongs_to_one_event() {
    let seen = events([&b"event: error\ndata: 1\n\ndata: 2\n\n"[..]]);
    assert_eq!(
        seen,
        [
            ("error".to_owned(), "1".to_owned()),
            (String::new(), "2".to_owned())
        ]
    );
}

#[test]
fn a_byte_order_mark_in_front_is_dropped() {
    assert_eq!(data(b"\xEF\xBB\xBFdata: a\n\n"), ["a"]);
}

#[test]
fn a_run_of_invalid_bytes_becomes_one_replacement_character() {
    assert_eq!(data(b"data: a\xFF\xFE\x80b\n\n"), ["a\u{FFFD}b"]);
    assert_eq!(data("data: 你\n\n".as_bytes()), ["你"]);
    assert_eq!(
        data(b"data: \xE4\xBD\n\ndata: next\n\n"),
        ["\u{FFFD}", "next"]
    );
    assert_eq!(data(b"data: \xFFa\xFF\n\n"), ["\u{FFFD}a\u{FFFD}"]);
}

#[test]
fn an_endless_event_is_refused() {
    let block = [b'x'; 64 * 1024];
    let mut decoder = Decoder::new();
    decoder.feed(b"data: ", |_| {}).unwrap();
    let fed = (0..MAX_EVENT_BYTES / block.len() + 1).map(|_| decoder.feed(&block, |_| {}));
    assert_eq!(fed.last(), Some(Err(EventTooLong)));

    let mut decoder = Decoder::new();
    let line = [b"data:".as_slice(), &block, b"\n"].concat();
    let fed = (0..=MAX_EVENT_BYTES / block.len()).map(|_| decoder.feed(&line, |_| {}));
    assert_eq!(
        fed.last(),
        Some(Err(EventTooLong)),
        "many short lines of one event"
    );
}

proptest! {
    #[test]
    fn any_bytes_in_any_slices_decode_alike(
        body in proptest::collection::vec(
            prop_oneof![
                Just(b"data: ".to_vec()), Just(b"data:".to_vec()), Just(b"\n".to_vec()),
                Just(b"\r".to_vec()), Just(b"\r\n".to_vec()), Just(b":".to_vec()),
                Just(b"event: e".to_vec()), Just("好😀".as_bytes().to_vec()),
                proptest::collection::vec(any::<u8>(), 1..4),
            ],
            0..24,
        ),
        cuts in proptest::collection::vec(1_usize..9, 1..40),
    ) {
        let body = body.concat();
        let mut slices = Vec::new();
        let mut rest = body.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (slice, tail) = rest.split_at((*cut).min(rest.len()));
            slices.push(slice);
            rest = tail;
        }
        prop_assert_eq!(events(slices), events([body.as_slice()]));
    }

    #[test]
    fn what_a_simple_server_sends_comes_out_again(
        messages in proptest::collection::vec(
            proptest::collection::vec("[^\r\n]{0,8}", 1..4), 0..6,
        ),
    ) {
        let mut body = String::new();
        for lines in &messages {
            for line in lines {
                body.push_str(&format!("data: {line}\n"));
            }
            body.push('\n');
        }
        let expected: Vec<String> = messages.iter().map(|lines| lines.join("\n")).collect();
        prop_assert_eq!(data(body.as_bytes()), expected);
    }
}
