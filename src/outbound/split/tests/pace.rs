//! Cutting for pace: thresholds, modes and short pieces.

use regex::Regex;
use weirgate_sdk::answer::Format;

use super::super::{Mode, Pace, split};
use super::{chars, cut, texts};

fn pace(threshold: usize, mode: Mode) -> Pace {
    Pace {
        threshold,
        mode,
        min_segment_length: 0,
        add_ellipsis: false,
    }
}

fn paced(text: &str, pace: &Pace, limit: usize) -> Vec<String> {
    texts(text, &cut(text, Format::Markdown, Some(pace), chars, limit))
}

#[test]
fn sentences_end_at_wide_and_latin_marks_only() {
    let text = "看这里 https://example.com/a.b?x=1.2&y=3! 好吗？好。";
    let pieces = paced(text, &pace(1, Mode::Sentence), 2_000);
    assert_eq!(
        pieces,
        [
            "看这里 https://example.com/a.b?x=1.2&y=3!",
            "好吗？",
            "好。"
        ]
    );
    let text =
        "Pi is 3.14 in v1.2.0, ask me.you@example.com! “Yes.” He said：「好。」然后……走了；完";
    let pieces = paced(text, &pace(1, Mode::Sentence), 2_000);
    let want = [
        "Pi is 3.14 in v1.2.0, ask me.you@example.com!",
        "“Yes.”",
        "He said：「好。」",
        "然后……",
        "走了；",
        "完",
    ];
    assert_eq!(pieces, want);
}

#[test]
fn pieces_are_filled_up_to_the_threshold() {
    let text = "One two. ".repeat(30);
    let pieces = paced(&text, &pace(40, Mode::Sentence), 2_000);
    assert!(
        pieces
            .iter()
            .all(|piece| piece.len() <= 40 && piece.ends_with('.')),
        "{pieces:?}"
    );
    assert_eq!(pieces[0], "One two. One two. One two. One two.");
    assert_eq!(paced("One two.", &pace(40, Mode::Sentence), 2_000).len(), 1);
}

#[test]
fn a_regex_cuts_behind_its_matches_and_nowhere_else() {
    let separator = Mode::Regex(Regex::new("¦").unwrap());
    let pieces = paced("第一行\n第二行¦第三行", &pace(1, separator.clone()), 2_000);
    assert_eq!(pieces, ["第一行\n第二行¦", "第三行"]);
    let code = "a¦\n\n```\nb¦c\n```\n\nd `x¦y` e";
    assert_eq!(paced(code, &pace(1, separator), 2_000).len(), 2);
}

#[test]
fn words_are_counted_and_a_wide_character_is_one() {
    let pieces = paced("one two three four five", &pace(2, Mode::WordCount), 2_000);
    assert_eq!(pieces, ["one two", "three four", "five"]);
    let pieces = paced("今天天气很好，走吧", &pace(3, Mode::WordCount), 2_000);
    assert_eq!(pieces, ["今天天", "气很好，", "走吧"]);
}

#[test]
fn code_and_tables_are_never_cut_for_pace() {
    let code = format!("```rs\n{}```", "let a = 1. + 2.;\n".repeat(20));
    let row = "| 第一。二 | One. Two here. | `a | b`. |\n";
    let table = format!("| 名称 | Name | Code |\n|---|---|---|\n{}", row.repeat(10));
    let table = table.trim_end();
    let text =
        format!("Look at this. It works.\n\n{code}\n\nAnd a table. Here:\n\n{table}\n\nDone. Bye.");
    for mode in [
        Mode::Sentence,
        Mode::WordCount,
        Mode::Regex(Regex::new("\n").unwrap()),
    ] {
        let pieces = paced(&text, &pace(20, mode), 2_000);
        for whole in [&code, table] {
            assert!(
                pieces.iter().any(|piece| piece.contains(whole)),
                "{pieces:?}"
            );
        }
        assert!(pieces.len() > 3, "{pieces:?}");
    }
}

#[test]
fn markers_of_blocks_stay_with_their_text() {
    let text = "1. 安装。然后\n2. 运行！\n\n> 引用。继续";
    let pieces = paced(text, &pace(1, Mode::Sentence), 2_000);
    assert_eq!(
        pieces,
        ["1. 安装。", "然后", "2. 运行！", "> 引用。", "> 继续"]
    );
    let words = paced("# A b\n\n- c d", &pace(1, Mode::WordCount), 2_000);
    assert_eq!(words, ["# A", "# b", "- c", "d"]);
}

#[test]
fn bold_sentences_are_closed_and_reopened() {
    let pieces = paced(
        "**第一句。第二句。**第三句。",
        &pace(1, Mode::Sentence),
        2_000,
    );
    assert_eq!(pieces, ["**第一句。**", "**第二句。**", "第三句。"]);
}

#[test]
fn a_short_piece_joins_its_neighbour_while_both_fit() {
    let text = "This is the first long sentence here. Ok. This is the other long sentence.";
    let mut pace = pace(1, Mode::Sentence);
    pace.min_segment_length = 10;
    let joined = paced(text, &pace, 2_000);
    assert_eq!(joined.len(), 2);
    assert!(joined[0].ends_with("Ok."));
    assert_eq!(
        paced(&text.repeat(3), &pace, 64)
            .iter()
            .filter(|piece| *piece == "Ok.")
            .count(),
        0
    );
}

#[test]
fn dots_mark_a_piece_that_begins_inside_a_paragraph() {
    let mut pace = pace(10, Mode::Sentence);
    pace.add_ellipsis = true;
    let text = "**First one. Second one.** Third.\n\nNew paragraph.\n\n> Quoted one. Quoted two.";
    let pieces = paced(text, &pace, 2_000);
    let want = [
        "**First one.**",
        "...**Second one.**",
        "...Third.",
        "New paragraph.",
        "> Quoted one.",
        "> ...Quoted two.",
    ];
    assert_eq!(pieces, want);
}

#[test]
fn the_platforms_limit_comes_on_top() {
    let text = "word ".repeat(100) + ". " + &"word ".repeat(100);
    let mut pace = pace(5, Mode::Sentence);
    pace.add_ellipsis = true;
    let pieces = paced(&text, &pace, 64);
    assert!(pieces.iter().skip(1).all(|piece| piece.starts_with("...")));
}

#[test]
fn without_a_limit_the_cost_grows_with_the_length() {
    let text = "A sentence. Another one! ".repeat(2_000);
    let asked = std::cell::Cell::new(0);
    let pace = pace(100, Mode::Sentence);
    let pieces = split(&text, Format::Markdown, Some(&pace), &|piece| {
        asked.set(asked.get() + piece.len());
        true
    });
    assert!(
        pieces.len() > 250 && asked.get() < 20 * text.len(),
        "{}",
        asked.get()
    );
}
