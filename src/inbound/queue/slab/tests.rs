use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[test]
fn empty_pages_give_their_memory_back() {
    let mut slab = Slab::default();
    let all: Vec<u32> = (0..100_000_u64).map(|n| slab.insert(n)).collect();
    assert!(slab.capacity() >= 100_000);
    for &index in &all[..99_999] {
        slab.remove(index);
    }
    assert_eq!(slab[all[99_999]], 99_999);
    assert!(slab.capacity() < 2_000, "{}", slab.capacity());
    slab.remove(all[99_999]);
    assert_eq!((slab.len(), slab.capacity()), (0, 0));
}

proptest! {
    #[test]
    fn behaves_like_a_map(steps in prop::collection::vec((any::<bool>(), any::<u16>()), 0..3_000)) {
        let mut slab = Slab::default();
        let mut model: BTreeMap<u32, u64> = BTreeMap::new();
        for (number, (add, pick)) in (1_u64..).zip(steps) {
            if add || model.is_empty() {
                let index = slab.insert(number);
                prop_assert!(model.insert(index, number).is_none(), "slot given twice");
            } else {
                let at = usize::from(pick) % model.len();
                let index = *model.keys().nth(at).unwrap();
                prop_assert_eq!(slab.remove(index), model.remove(&index).unwrap());
            }
            prop_assert_eq!(slab.len(), model.len());
        }
        for (index, record) in model {
            prop_assert_eq!(slab[index], record);
        }
    }
}
