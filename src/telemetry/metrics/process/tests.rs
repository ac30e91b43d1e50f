//! The system's own text is read exactly.

use super::{append, cpu_seconds, kibibytes, max_descriptors};

#[test]
fn reads_sizes_and_nothing_else() {
    let status = "Name:\tx\nVmSize:\t 9 kB\nVmRSS:\t    1234 kB\n";
    assert_eq!(kibibytes(status, "VmRSS:"), Some(1_263_616.0));
    assert_eq!(kibibytes(status, "VmSize:"), Some(9216.0));
    assert_eq!(kibibytes("VmRSS:\t12 pages\n", "VmRSS:"), None);
    assert_eq!(
        kibibytes("VmRSS:\t18446744073709551615 kB\n", "VmRSS:"),
        None
    );
    assert_eq!(kibibytes("", "VmRSS:"), None);
}

#[test]
fn reads_processor_time_behind_any_name() {
    let fields = "S 1 2 3 4 5 6 7 8 9 10 150 25 0 0";
    assert_eq!(cpu_seconds(&format!("7 (a) b) c) {fields}")), Some(1.75));
    assert_eq!(cpu_seconds("7 (a) S 1 2"), None);
}

#[test]
fn reads_the_soft_limit_of_descriptors() {
    let limits = "Limit   Soft Limit  Hard Limit  Units\nMax open files  1024  524288  files\n";
    assert_eq!(max_descriptors(limits), Some(1024.0));
    assert_eq!(
        max_descriptors("Max open files  unlimited  unlimited  files\n"),
        None
    );
}

#[test]
fn this_process_has_all_of_them() {
    let mut text = String::new();
    append(&mut text);
    for name in [
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_max_fds",
        "process_virtual_memory_bytes",
        "process_resident_memory_bytes",
    ] {
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        assert!(value.is_some_and(|value| value >= 0.0), "{name} in {text}");
    }
}
