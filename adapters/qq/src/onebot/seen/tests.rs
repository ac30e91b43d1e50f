use super::*;

#[test]
fn the_mark_only_moves_forward_and_belongs_to_one_bot() {
    let seen = Seen::default();
    assert_eq!((seen.newest("1"), seen.mark()), (None, None));
    seen.remember("1", 50);
    seen.remember("1", 40);
    assert_eq!(seen.newest("1"), Some(50));
    assert_eq!(seen.newest("2"), None);
    seen.remember("2", 7);
    assert_eq!(
        (seen.newest("1"), seen.mark()),
        (None, Some(("2".into(), 7)))
    );
}
