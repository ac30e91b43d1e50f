use std::time::Duration;

use super::{cpu_of, memory_of};

#[test]
fn processor_time_is_read_behind_any_name() {
    let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 12 3 9 9 20 0 4 0 100 1 1";
    assert_eq!(cpu_of(stat), Some(Duration::from_millis(150)));
    assert_eq!(cpu_of("7 (a) S 1"), None);
    assert_eq!(cpu_of(""), None);
}

#[test]
fn memory_is_read_in_bytes() {
    assert_eq!(
        memory_of("Name:\ta\nVmRSS:\t    2048 kB\n"),
        Some(2_097_152)
    );
    assert_eq!(memory_of("Name:\ta\n"), None);
    assert_eq!(memory_of("VmRSS:\tmany kB\n"), None);
}
