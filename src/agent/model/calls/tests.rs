use proptest::prelude::*;

use super::*;

fn piece<'a>(
    index: Option<i64>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    arguments: &'a str,
) -> Piece<'a> {
    Piece {
        index,
        id,
        name,
        arguments: Some(arguments),
    }
}

/// The calls as `id name arguments`, from events.
fn told(events: &[&[Piece<'_>]]) -> Result<Vec<String>, Broken> {
    let mut assembler = Assembler::default();
    for event in events {
        assembler.event(event);
    }
    let calls = assembler.finish(false)?;
    let line = |call: ToolCall| format!("{} {} {}", call.id, call.name, call.arguments);
    Ok(calls.into_iter().map(line).collect())
}

#[test]
fn pieces_without_an_index_go_by_id_and_by_place() {
    let both = told(&[
        &[
            piece(None, Some("a"), Some("f"), ""),
            piece(None, Some("b"), Some("g"), ""),
        ],
        &[
            piece(None, None, None, r#"{"x":"#),
            piece(None, None, None, r#"{"y":"#),
        ],
        &[piece(None, None, None, "1}"), piece(None, None, None, "2}")],
    ]);
    assert_eq!(both.unwrap(), [r#"a f {"x":1}"#, r#"b g {"y":2}"#]);
    let single = told(&[
        &[piece(None, Some("a"), Some("f"), "")],
        &[piece(None, None, None, r#"{"x":"#)],
        &[piece(None, None, None, "1}")],
    ]);
    assert_eq!(single.unwrap(), [r#"a f {"x":1}"#]);
    let by_id = told(&[
        &[piece(None, Some("a"), Some("f"), r#"{"x":"#)],
        &[piece(None, Some("b"), Some("g"), r#"{"y":"#)],
        &[piece(None, Some("a"), None, "1}")],
        &[piece(None, Some("b"), None, "2}")],
    ]);
    assert_eq!(by_id.unwrap(), [r#"a f {"x":1}"#, r#"b g {"y":2}"#]);
}

#[test]
fn interleaved_pieces_go_by_index_and_come_out_in_its_order() {
    let calls = told(&[
        &[piece(Some(1), None, Some("g"), r#"{"y":"#)],
        &[piece(Some(0), Some("a"), Some("f"), r#"{"x":"#)],
        &[piece(Some(0), None, None, "1}")],
        &[piece(Some(1), Some("b"), None, "2}")],
    ]);
    assert_eq!(calls.unwrap(), [r#"a f {"x":1}"#, r#"b g {"y":2}"#]);
}

#[test]
fn one_index_for_every_call_does_not_melt_them() {
    let by_id = told(&[
        &[piece(Some(0), Some("a"), Some("f"), "{}")],
        &[piece(Some(0), Some("b"), Some("f"), r#"{"x":1}"#)],
    ]);
    assert_eq!(by_id.unwrap(), ["a f {}", r#"b f {"x":1}"#]);
    let by_name = told(&[
        &[piece(Some(0), None, Some("f"), r#"{"x":1}"#)],
        &[piece(Some(0), None, Some("g"), r#"{"y":2}"#)],
        &[piece(Some(0), None, Some("g"), r#"{"y":3}"#)],
    ]);
    let expected = [
        r#"call_0 f {"x":1}"#,
        r#"call_1 g {"y":2}"#,
        r#"call_2 g {"y":3}"#,
    ];
    assert_eq!(by_name.unwrap(), expected);
}

#[test]
fn a_repeated_id_or_name_belongs_to_the_same_call() {
    let calls = told(&[
        &[piece(Some(0), Some("a"), Some("f"), r#"{"x":"#)],
        &[piece(Some(0), Some("a"), Some("f"), "1}")],
    ]);
    assert_eq!(calls.unwrap(), [r#"a f {"x":1}"#]);
    let whole_again = told(&[
        &[piece(Some(0), Some("a"), Some("f"), r#"{"x":1}"#)],
        &[piece(Some(0), Some("a"), Some("f"), r#"{"x":1}"#)],
    ]);
    assert_eq!(whole_again.unwrap(), [r#"a f {"x":1}"#]);
    let two_of_one_id = told(&[&[
        piece(Some(0), Some("a"), Some("f"), r#"{"x":1}"#),
        piece(Some(1), Some("a"), Some("f"), r#"{"x":2}"#),
    ]]);
    assert_eq!(
        two_of_one_id.unwrap(),
        [r#"a f {"x":1}"#, r#"call_1 f {"x":2}"#]
    );
}

#[test]
fn what_cannot_be_told_apart_or_is_cut_runs_nothing() {
    let mixed = told(&[
        &[
            piece(None, Some("a"), Some("f"), ""),
            piece(None, Some("b"), Some("g"), ""),
        ],
        &[piece(None, None, None, r#"{"x":1}"#)],
    ]);
    assert_eq!(mixed, Err(Broken::Mixed));
    for arguments in [r#"{"path":"/a","content":"line1"#, "[1]", r#""x""#, "{} {}"] {
        let cut = told(&[
            &[piece(Some(0), Some("a"), Some("f"), "{}")],
            &[piece(Some(1), Some("b"), Some("g"), arguments)],
        ]);
        assert_eq!(cut, Err(Broken::Arguments), "{arguments}");
    }
    assert_eq!(
        told(&[&[piece(Some(0), Some("a"), None, "{}")]]),
        Err(Broken::NoName)
    );
    let mut whole = Assembler::default();
    whole.event(&[piece(Some(0), Some("a"), Some("f"), "{}")]);
    assert_eq!(whole.finish(true), Err(Broken::CutOff));
}

#[test]
fn the_number_of_calls_is_bounded() {
    let mut assembler = Assembler::default();
    for index in 0..1_000 {
        assembler.event(&[piece(Some(index), None, Some("f"), "{}")]);
    }
    assert_eq!(assembler.calls.len(), MAX_CALLS);
    assert_eq!(assembler.finish(false), Err(Broken::TooMany));
}

#[derive(Debug, Clone, Copy)]
enum Style {
    IndexAndFirstId,
    IndexOnly,
    IdOnly,
}

proptest! {
    /// Whatever the style and wherever the arguments are cut: the calls come out as they were, or none does.
    #[test]
    fn calls_come_out_whole_or_not_at_all(
        texts in prop::collection::vec("[a-z{}\\[\\]\"\\\\ ]{0,12}", 1..4),
        style in prop::sample::select(vec![Style::IndexAndFirstId, Style::IndexOnly, Style::IdOnly]),
        order in prop::collection::vec(0..4_usize, 0..60),
        size in 1..7_usize,
    ) {
        let wanted: Vec<String> = texts
            .iter()
            .map(|text| serde_json::json!({ "text": text }).to_string())
            .collect();
        let ids: Vec<String> = (0..texts.len()).map(|n| format!("id{n}")).collect();
        let names: Vec<String> = (0..texts.len()).map(|n| format!("tool{n}")).collect();
        let mut rest: Vec<Vec<String>> = wanted
            .iter()
            .map(|text| {
                let chars: Vec<char> = text.chars().collect();
                chars.chunks(size).rev().map(|piece| piece.iter().collect()).collect()
            })
            .collect();
        let mut assembler = Assembler::default();
        let index = |n: usize| i64::try_from(n).ok();
        for n in 0..texts.len() {
            assembler.event(&[match style {
                Style::IdOnly => piece(None, Some(&ids[n]), Some(&names[n]), ""),
                Style::IndexOnly => piece(index(n), None, Some(&names[n]), ""),
                Style::IndexAndFirstId => piece(index(n), Some(&ids[n]), Some(&names[n]), ""),
            }]);
        }
        let all = order.into_iter().chain((0..texts.len()).cycle().take(texts.len() * 60));
        for n in all {
            let Some(more) = rest.get_mut(n).and_then(Vec::pop) else { continue };
            assembler.event(&[match style {
                Style::IdOnly => piece(None, Some(&ids[n]), None, &more),
                Style::IndexOnly | Style::IndexAndFirstId => piece(index(n), None, None, &more),
            }]);
        }
        let calls = assembler.finish(false).unwrap();
        let got: Vec<(String, String)> =
            calls.into_iter().map(|call| (call.name, call.arguments)).collect();
        let expected: Vec<(String, String)> = names.into_iter().zip(wanted).collect();
        prop_assert_eq!(got, expected);
    }
}
