//! The system's own text is read exactly.

use super::parse;

#[test]
fn reads_the_resident_size_and_nothing_else() {
    assert_eq!(
        parse("Name:\tx\nVmSize:\t 9 kB\nVmRSS:\t    1234 kB\n"),
        Some(1_263_616)
    );
    assert_eq!(parse("VmRSS:\t12 pages\n"), None);
    assert_eq!(parse("VmRSS:\t18446744073709551615 kB\n"), None);
    assert_eq!(parse(""), None);
}
