use super::*;

fn block(turn: &str, block: usize, replace: bool) -> DraftBlock {
    DraftBlock {
        turn: turn.into(),
        block,
        replace,
    }
}

fn waiting(items: &mut Items) -> Vec<String> {
    let mut all = vec![];
    while let Some(item) = items.try_recv() {
        if let Item::Frames(frames) = item {
            all.extend(frames.iter().map(|it| it.as_str().to_owned()));
        }
    }
    all
}

#[test]
fn a_block_that_grows_waits_once_however_often_it_does() {
    let (outlet, mut items) = Outlet::new();
    assert!(outlet.draft(block("t", 0, true), "first".into()));
    assert!(outlet.frame("between".into()));
    let mut code = String::new();
    for _ in 0..2_000 {
        code.push_str(&"x".repeat(100));
        assert!(
            outlet.draft(block("t", 1, false), code.as_str().into()),
            "not cut"
        );
    }
    assert_eq!(waiting(&mut items), ["first", "between", code.as_str()]);
}

#[test]
fn a_frame_takes_back_what_it_drops_and_nothing_else() {
    let (outlet, mut items) = Outlet::new();
    for (draft, frame) in [
        (block("t", 0, true), "t0"),
        (block("t", 1, false), "t1"),
        (block("u", 2, false), "u2"),
        (block("t", 2, false), "t2"),
        // Blocks 1 and 2 of the text are gone.
        (block("t", 0, false), "t0 again"),
    ] {
        assert!(outlet.draft(draft, frame.into()));
    }
    assert_eq!(
        waiting(&mut items),
        ["t0", "u2", "t0 again"],
        "the one that clears the view stays"
    );
    outlet.draft(block("t", 0, true), "attempt 1".into());
    outlet.draft(block("t", 1, false), "attempt 1 too".into());
    outlet.draft(block("t", 0, true), "attempt 2".into());
    assert_eq!(waiting(&mut items), ["attempt 2"]);
}

#[test]
fn what_is_taken_back_does_not_count() {
    let (outlet, _items) = Outlet::new();
    let large = "x".repeat(MAX_BYTES);
    for _ in 0..10 {
        assert!(outlet.draft(block("t", 0, true), large.as_str().into()));
    }
    assert!(outlet.frame("x".into()));
    assert!(!outlet.frame("x".into()), "a byte over the limit");
}

#[test]
fn a_large_page_that_waits_leaves_no_room_until_it_is_written() {
    let (outlet, mut items) = Outlet::new();
    assert!(outlet.has_room());
    outlet.frame("x".repeat(512 * 1024).into());
    assert!(!outlet.has_room());
    let item = items.try_recv().unwrap();
    assert!(!outlet.has_room(), "it is being written");
    outlet.written(size(&item));
    assert!(outlet.has_room());
}

#[tokio::test(start_paused = true)]
async fn who_takes_nothing_while_room_is_waited_for_is_cut_off() {
    let (outlet, _items) = Outlet::new();
    outlet.frame("x".repeat(512 * 1024).into());
    outlet.room().await;
    assert_eq!(outlet.until_cut().await, Cut::SLOW);
    let (outlet, items) = Outlet::new();
    outlet.frame("x".repeat(512 * 1024).into());
    drop(items);
    outlet.room().await;
    assert_eq!(outlet.until_cut().await, Cut::DONE, "at once");
}
