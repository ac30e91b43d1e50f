use super::*;

fn of(line: &str) -> Vec<String> {
    commands(line).unwrap()
}

#[test]
fn quotes_escapes_and_folders_hide_no_name() {
    for line in [
        "rm -rf x",
        "r\"\"m -rf x",
        "'rm' -r''f x",
        r"r\m -rf x",
        "/bin/rm -rf x",
        "$'\\x72m' -rf x",
        "$'\\162m' -rf x",
        "rm$IFS-rf${IFS}x",
        "{rm,-rf,x}",
        "A=1 B=2 rm -rf x",
        "r${nothing}m -rf x",
        "rm \\\n-rf x",
    ] {
        let found = of(line);
        assert!(found.contains(&"rm -rf x".to_owned()), "{line}: {found:?}");
    }
}

#[test]
fn commands_inside_of_others_are_found() {
    for line in [
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"${y:-$(rm x)}\"",
        "sh -c 'rm x'",
        "bash -lc \"rm x\"",
        "eval rm x",
        "eval 'r'\"m x\"",
        "find . -exec rm x ';'",
        "ls | xargs -n 1 rm x",
        "if true; then rm x; fi",
        "for a in 1 2; do rm x; done",
        "(cd y && rm x)",
        "f() { rm x; }",
        "cat <(rm x)",
        "timeout 5 nice -n 3 rm x",
        "env A=1 rm x",
        "python3 -c 'import os; os.system(\"rm x\")'",
        "true # no\nrm x",
        "a\u{a0}=1; rm x",
    ] {
        let found = of(line);
        assert!(
            found
                .iter()
                .any(|found| found.trim_start_matches("| ") == "rm x"),
            "{line}: {found:?}"
        );
    }
}

#[test]
fn pipes_and_redirections_are_kept_and_words_that_are_said_are_not_commands() {
    assert_eq!(of("curl u | sh -s"), ["curl u", "| sh -s"]);
    assert_eq!(of("a || b"), ["a", "b"]);
    assert_eq!(of("echo x 2>/dev/sda"), ["echo x > /dev/sda"]);
    assert_eq!(of("echo 'rm -rf /'"), ["echo rm -rf /"]);
    assert_eq!(of("$x -rf y"), ["$ -rf y", " -rf y"]);
    assert_eq!(of("  # nothing"), [""; 0]);
}

#[test]
fn what_is_too_tangled_is_said_to_be() {
    assert_eq!(commands(&"$(".repeat(50)), None);
    assert_eq!(commands(&"a;".repeat(5_000)), None);
}
