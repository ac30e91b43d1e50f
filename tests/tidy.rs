//! House rules that clippy cannot see, over every text file of the repository.
//!
//! Each rule is a function from texts to offenders, written `file:line: what is wrong`; one test applies it
//! to the repository, and the test of samples at the end shows that it can fail. It needs nothing but the
//! standard library; what is compared with the program itself is in `tests/docs.rs`.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "in a test a broken assumption is a failed test"
)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

#[path = "tidy/map.rs"]
mod map;

use map::{dead_links, lost_paths};

/// Most lines of a source file.
const MAX_LINES: usize = 500;
/// The rules are full of the words that they look for.
const SELF: &str = "tests/tidy.rs";
/// Endings of the files that are read.
const TEXT: [&str; 12] = [
    "rs", "toml", "md", "yaml", "yml", "json", "sh", "sql", "js", "css", "html", "service",
];
/// Protocols, programs and platforms that the core must not know either, beside the adapters' own names.
const FOREIGN: [&str; 4] = ["telegram", "discord", "onebot", "napcat"];

/// A text file, by its path from the root of the repository.
struct File {
    path: String,
    text: String,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Tests beside the code: `x/tests.rs` and what is below `x/tests/`.
    fn is_unit_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// One offender for each line that `wrong` complains about.
    fn offenders(&self, wrong: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let lines = self.text.lines().enumerate();
        lines
            .filter_map(|(index, line)| {
                Some(format!("{}:{}: {}", self.path, index + 1, wrong(line)?))
            })
            .collect()
    }

    /// The offender that stands for the whole file.
    fn offender(&self, what: &str) -> Vec<String> {
        vec![format!("{}:1: {what}", self.path)]
    }
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let mut files = Vec::new();
    read(&root(), &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(files.len() > 100, "only {} files were found", files.len());
    files
});

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let (path, name) = (
            entry.path(),
            entry.file_name().to_string_lossy().into_owned(),
        );
        if entry.file_type().expect("the entry has a type").is_dir() {
            let build = name == "target" || name == "vendor" || path.join("CACHEDIR.TAG").exists();
            if !build && (!name.starts_with('.') || name == ".ci") {
                read(&path, files);
            }
            continue;
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let relative = path
            .strip_prefix(root())
            .expect("it is below the root")
            .to_string_lossy();
        if TEXT.contains(&&*ending) || relative.starts_with(".ci/") {
            let text = fs::read_to_string(&path).expect("a text file is UTF-8");
            files.push(File {
                path: relative.into_owned(),
                text,
            });
        }
    }
}

fn check(rule: &str, offenders: Vec<String>) {
    assert!(offenders.is_empty(), "{rule}\n  {}", offenders.join("\n  "));
}

fn everywhere(rule: impl Fn(&File) -> Vec<String>) -> Vec<String> {
    FILES
        .iter()
        .filter(|file| file.path != SELF)
        .flat_map(rule)
        .collect()
}

#[test]
fn source_files_are_short() {
    let rule = format!("A source file has at most {MAX_LINES} lines: split it by step.");
    check(&rule, FILES.iter().flat_map(too_long).collect());
}

fn too_long(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    if !file.is_rust() || lines <= MAX_LINES {
        return Vec::new();
    }
    file.offender(&format!("{lines} lines"))
}

#[test]
fn source_files_say_what_they_are() {
    let rule = "A source file opens with `//!`: what it does, what it owns, what it never does. (Only \
                `x/tests.rs` may do without: name and place say it.)";
    check(rule, everywhere(without_header));
}

fn without_header(file: &File) -> Vec<String> {
    if !file.is_rust() || file.path.ends_with("/tests.rs") || file.text.starts_with("//!") {
        return Vec::new();
    }
    file.offender("no `//!`")
}

#[test]
fn every_source_file_is_compiled() {
    let rule = "A source file that no `mod` names is never compiled, and its tests never run.";
    check(rule, everywhere(|file| orphan(file, &FILES)));
}

/// A file is reached when the file of the module around it names it. Benches and the direct children of
/// `tests/` are targets of their own.
fn orphan(file: &File, files: &[File]) -> Vec<String> {
    let Some((folder, name)) = file
        .path
        .strip_suffix(".rs")
        .and_then(|path| path.rsplit_once('/'))
    else {
        return Vec::new();
    };
    let target = matches!(name, "main" | "lib" | "build") || matches!(folder, "tests" | "benches");
    let around = [
        format!("{folder}.rs"),
        format!("{folder}/lib.rs"),
        format!("{folder}/main.rs"),
    ];
    let declared = format!("mod {name};");
    let named = files
        .iter()
        .filter(|file| around.contains(&file.path))
        .any(|file| {
            file.text.lines().any(|line| {
                let line = line.trim_start();
                let visible = line
                    .strip_prefix("pub ")
                    .or_else(|| line.split_once(") ").map(|cut| cut.1));
                line == declared || visible == Some(&declared)
            })
        });
    if target || named {
        Vec::new()
    } else {
        file.offender("no `mod` names this file")
    }
}

#[test]
fn modules_lie_beside_their_folder() {
    check(
        "`x.rs` stands beside `x/`; there is no mod.rs.",
        everywhere(old_module),
    );
}

fn old_module(file: &File) -> Vec<String> {
    if file.path.ends_with("/mod.rs") {
        file.offender("rename it")
    } else {
        Vec::new()
    }
}

#[test]
fn the_core_names_no_platform() {
    let rule = "The core never names a platform, neither in code nor in comments. Only \
                src/app/adapters.rs, the one list of adapters, and unit tests may.";
    let folders = fs::read_dir(root().join("adapters")).expect("there are adapters");
    let names = folders.filter_map(|folder| folder.ok()?.file_name().into_string().ok());
    let mut names: BTreeSet<String> = names
        .filter(|name| !matches!(&**name, "sdk" | "net"))
        .collect();
    assert!(!names.is_empty(), "no adapter was found");
    names.extend(FOREIGN.map(str::to_owned));
    check(rule, everywhere(|file| platform_names(file, &names)));
}

fn platform_names(file: &File, names: &BTreeSet<String>) -> Vec<String> {
    let core = file.path.starts_with("src/") && file.path != "src/app/adapters.rs";
    if !core || !file.is_rust() || file.is_unit_test() {
        return Vec::new();
    }
    file.offenders(|line| {
        let words: BTreeSet<String> = line
            .split(|c: char| !c.is_ascii_alphanumeric())
            .map(str::to_ascii_lowercase)
            .collect();
        // A short name may be a part of another word, a long one may not.
        let names_it = |name: &&String| {
            words
                .iter()
                .any(|word| word == *name || name.len() > 3 && word.contains(*name))
        };
        names
            .iter()
            .find(names_it)
            .map(|name| format!("names {name}"))
    })
}

#[test]
fn every_queue_is_bounded() {
    let rule = "Every queue is bounded: no unbounded channel.";
    let words = [
        "unbounded_channel",
        "UnboundedSender",
        "UnboundedReceiver",
        "mpsc::unbounded",
        "channel::unbounded",
        "flume::unbounded",
        // The standard library's channel takes no size and has no limit.
        "mpsc::channel()",
    ];
    check(rule, everywhere(|file| containing(file, &words)));
}

#[test]
fn nothing_is_left_for_later() {
    let rule = "What is not done is an issue, not a mark in the code; no test is switched off.";
    let words = [
        "todo!(",
        "unimplemented!(",
        "dbg!(",
        "#[ignore",
        "#[should_panic",
        "FIXME",
    ];
    check(rule, everywhere(|file| containing(file, &words)));
}

#[test]
fn limits_are_not_planned_for() {
    let rule = "SQLite prepares a statement again whenever a parameter that is its whole LIMIT is bound; \
                write `LIMIT ?1 + 0`.";
    check(rule, everywhere(planned_limits));
}

fn planned_limits(file: &File) -> Vec<String> {
    let tests = file.path.ends_with("tests.rs");
    if !file.is_rust() || tests || !file.path.starts_with("src/store/sqlite") {
        return Vec::new();
    }
    file.offenders(|line| {
        let mut limits = line.split("LIMIT ?").skip(1);
        let bare = |rest: &str| {
            !rest
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .starts_with(" + 0")
        };
        limits.any(bare).then(|| "a bare limit".to_owned())
    })
}

/// Lines of Rust with one of these words.
fn containing(file: &File, words: &[&str]) -> Vec<String> {
    if !file.is_rust() {
        return Vec::new();
    }
    let found = |line: &str| words.iter().find(|word| line.contains(**word));
    file.offenders(|line| found(line).map(|word| format!("`{word}`")))
}

#[test]
fn no_machine_is_named() {
    let rule = "A path of one machine works on no other.";
    check(rule, everywhere(machine_paths));
}

fn machine_paths(file: &File) -> Vec<String> {
    let folders = ["work", "tmp", "root", "Users"].map(|name| format!("/{name}/"));
    file.offenders(|line| {
        let absolute = |at: usize| {
            let before = line.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_' | '}'))
        };
        let found = |folder: &&String| {
            let mut places = line.match_indices(folder.as_str());
            places.any(|(at, _)| absolute(at))
        };
        folders
            .iter()
            .find(found)
            .map(|folder| format!("`{folder}`"))
    })
}

#[test]
fn exceptions_have_reasons() {
    let rule = "An exception in deny.toml has a `reason = \"…\"`, or a comment on the line above.";
    check(rule, without_reason(file("deny.toml")));
}

fn without_reason(file: &File) -> Vec<String> {
    let (mut inside, mut above, mut offenders) = (false, "", Vec::new());
    for (index, line) in file.text.lines().map(str::trim).enumerate() {
        let opens = [
            "skip",
            "skip-tree",
            "deny",
            "exceptions",
            "ignore",
            "allow-git",
        ]
        .iter()
        .any(|list| {
            line.strip_prefix(list)
                .is_some_and(|rest| rest.trim_start() == "= [")
        });
        if opens {
            inside = true;
        } else if line == "]" {
            inside = false;
        } else if inside && line.starts_with(['{', '"']) {
            let reason = line
                .split_once("reason = \"")
                .map(|(_, reason)| reason.trim());
            let given = reason.is_some_and(|reason| reason.len() > 10) || above.starts_with('#');
            if !given {
                offenders.push(format!("{}:{}: {line}", file.path, index + 1));
            }
        }
        above = line;
    }
    offenders
}

fn file(path: &str) -> &'static File {
    let found = FILES.iter().find(|file| file.path == path);
    found.unwrap_or_else(|| panic!("{path} is missing"))
}

#[test]
fn every_rule_can_fail() {
    let names = BTreeSet::from(["zap", "pigeon"].map(str::to_owned));
    let core = |line: &str| platform_names(&File::new("src/a.rs", line), &names).len();
    assert_eq!(
        (
            core("use weirgate_zap;"),
            core("// as Zap does"),
            core("PigeonPost")
        ),
        (1, 1, 1)
    );
    assert_eq!((core("zapped"), core("a message")), (0, 0));
    assert!(platform_names(&File::new("src/app/adapters.rs", "zap"), &names).is_empty());
    assert!(platform_names(&File::new("src/a/tests.rs", "zap"), &names).is_empty());

    let long = File::new("a.rs", &"\n".repeat(MAX_LINES + 1));
    assert_eq!(too_long(&long), ["a.rs:1: 501 lines"]);
    assert_eq!(without_header(&File::new("a.rs", "// a")).len(), 1);
    assert_eq!(old_module(&File::new("src/a/mod.rs", "")).len(), 1);
    let channel = File::new("a.rs", "//!\nlet x = mpsc::channel();\nmpsc::channel(3);");
    assert_eq!(
        containing(&channel, &["mpsc::channel()"]),
        ["a.rs:2: `mpsc::channel()`"]
    );

    let around = [File::new(
        "src/a.rs",
        "pub mod b;\n#[cfg(test)]\nmod tests;\npub(crate) mod d;",
    )];
    let orphans = |path| orphan(&File::new(path, ""), &around).len();
    assert_eq!(
        ["src/a/b.rs", "src/a/tests.rs", "src/a/d.rs"].map(orphans),
        [0, 0, 0]
    );
    assert_eq!(
        ["src/a/c.rs", "src/e/b.rs", "src/main.rs"].map(orphans),
        [1, 1, 0]
    );

    let path = |line: &str| machine_paths(&File::new("a.md", line)).len();
    let samples = ["see /x/y", "\"/x/\"", "docs/x/z"].map(|line| path(&line.replace('x', "tmp")));
    assert_eq!(samples, [1, 1, 0]);
    let deny = "skip = [\n{ crate = \"a\" },\n{ crate = \"b\", reason = \"asked for by c\" },\n# why\n\"d\",\n]";
    assert_eq!(
        without_reason(&File::new("deny.toml", deny)),
        ["deny.toml:2: { crate = \"a\" },"]
    );
    let map = File::new(
        "A.md",
        "`src/lib.rs` and `src/lost.rs`, `/stop`, `a | b/c`\n`src/none/`",
    );
    assert_eq!(
        lost_paths(&map),
        ["A.md:1: src/lost.rs", "A.md:2: src/none"]
    );
    let links = File::new(
        "A.md",
        "[a](Cargo.toml) [b](lost.md#x) [c](https://example.com) [d](#e)",
    );
    assert_eq!(dead_links(&links), ["A.md:1: no lost.md"]);
    let limits = |path| planned_limits(&File::new(path, "LIMIT ?3 + 0\nLIMIT ?12 + 0)\nLIMIT ?3)"));
    let bare = "src/store/sqlite/a.rs:3: a bare limit";
    assert_eq!(limits("src/store/sqlite/a.rs"), [bare]);
    assert!(limits("src/store/postgres/a.rs").is_empty());
}
