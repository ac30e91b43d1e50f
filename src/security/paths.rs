//! The guard in front of every path that is opened on behalf of a model.
//!
//! Owns the patterns for files that are never opened and how a path is looked at: with `..` and links resolved,
//! whatever the case. It opens nothing. Whoever opens a file takes the path that the guard gives back, not the one
//! that he asked about.

use std::{
    fmt::{self, Write as _},
    io,
    path::{Component, Path, PathBuf},
};

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// Most bytes that all patterns together may take.
const BYTES: usize = 4 << 20;

/// Files that are never opened.
#[derive(Debug, Clone)]
pub struct PathGuard {
    patterns: RegexSet,
}

/// Why a path is not opened.
#[derive(Debug)]
pub enum Refused {
    /// A pattern names it, or what it leads to.
    Blocked,
    /// It cannot be resolved.
    Unresolved(io::Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked => f.write_str("this file must not be opened"),
            Self::Unresolved(error) => write!(f, "the path cannot be resolved: {error}"),
        }
    }
}

impl std::error::Error for Refused {}

impl PathGuard {
    /// A guard for these patterns: `*` and `?` stand for anything inside of a name, `**` for any folders.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn new<P: AsRef<str>>(patterns: &[P]) -> Result<Self, String> {
        let expressions = patterns.iter().map(|pattern| expression(pattern.as_ref()));
        let patterns = RegexSetBuilder::new(expressions)
            .case_insensitive(true)
            .size_limit(BYTES)
            .build();
        Ok(Self {
            patterns: patterns.map_err(|error| error.to_string())?,
        })
    }

    /// Resolves a path and says whether it may be opened. A file that does not exist yet is looked at where it
    /// would be. Relative paths begin at `base`.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check(&self, base: &Path, path: &Path) -> Result<PathBuf, Refused> {
        let asked = lexical(&base.join(path));
        if self.is_blocked(&asked) {
            return Err(Refused::Blocked);
        }
        let resolved = resolve(&asked).map_err(Refused::Unresolved)?;
        if self.is_blocked(&resolved) {
            return Err(Refused::Blocked);
        }
        Ok(resolved)
    }

    /// Whether a pattern names a path that has no link and no `..` in it, or a folder that it is in.
    #[must_use]
    pub fn blocks(&self, path: &Path) -> bool {
        self.is_blocked(path)
    }

    /// Whether a pattern names a path, or a folder that it is in.
    fn is_blocked(&self, path: &Path) -> bool {
        path.ancestors()
            .any(|path| self.patterns.is_match(&path.to_string_lossy()))
    }
}

/// The path with links resolved; of one that does not exist the folder is.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere is not a file that does not exist yet.
            if path.symlink_metadata().is_ok() {
                return Err(error);
            }
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(error);
            };
            Ok(folder.canonicalize()?.join(name))
        }
        other => other,
    }
}

/// The path without `.` and `..`, as it reads.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// A pattern as it is written for the guard, for looking for files.
///
/// # Errors
/// What is wrong with it.
pub fn glob(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(&expression(pattern))
        .case_insensitive(true)
        .size_limit(BYTES)
        .build()
        .map_err(|error| error.to_string())
}

/// A pattern as a regular expression over the whole path.
fn expression(pattern: &str) -> String {
    let mut out = String::from("\\A");
    let mut rest = pattern;
    // A pattern without a beginning holds in every folder.
    if !rest.starts_with('/') && !rest.starts_with("**") {
        out.push_str("(?s:.*/)?");
    }
    while let Some(first) = rest.chars().next() {
        let (taken, expression) = match first {
            '*' if rest.starts_with("**/") => (3, "(?s:.*/)?"),
            '*' if rest.starts_with("**") => (2, "(?s:.*)"),
            '*' => (1, "[^/]*"),
            '?' => (1, "[^/]"),
            letter => {
                // Writing to a string does not fail.
                let _ = write!(out, "{}", regex::escape(letter.encode_utf8(&mut [0; 4])));
                (letter.len_utf8(), "")
            }
        };
        out.push_str(expression);
        rest = rest.get(taken..).unwrap_or_default();
    }
    out.push_str("\\z");
    out
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn guard() -> PathGuard {
        PathGuard::new(&[
            "**/.env",
            "**/secrets.yaml",
            "**/*password*",
            "**/.git/credentials",
            "private/**",
        ])
        .unwrap()
    }

    fn opens(path: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let full = folder.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(&full, "x").unwrap();
        guard()
            .check(folder.path(), Path::new(path.trim_start_matches('/')))
            .is_ok()
    }

    #[test]
    fn patterns_name_files_in_every_folder() {
        for path in [
            ".env",
            "a/.env",
            "a/b/SECRETS.yaml",
            "my-Passwords.txt",
            "x/.git/credentials",
            "private/a/b",
            "a/password/b",
        ] {
            assert!(!opens(path), "{path}");
        }
        for path in [
            "env",
            ".env.example",
            "secrets.yaml.md",
            "git/credentials",
            "a/pass.txt",
        ] {
            assert!(opens(path), "{path}");
        }
    }

    #[test]
    fn links_and_dots_do_not_lead_around() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join(".env"), "x").unwrap();
        fs::create_dir(root.join("docs")).unwrap();
        symlink(root.join(".env"), root.join("docs/readme")).unwrap();
        symlink(root.join("docs"), root.join("more")).unwrap();
        symlink(root.join("nowhere"), root.join("dangling")).unwrap();
        let check = |path: &str| guard().check(root, Path::new(path));
        for path in [
            "docs/../.env",
            "./docs/./../.ENV",
            "docs/readme",
            "more/readme",
        ] {
            assert!(matches!(check(path), Err(Refused::Blocked)), "{path}");
        }
        assert!(matches!(check("dangling"), Err(Refused::Unresolved(_))));
        let new = check("more/new.txt").unwrap();
        assert_eq!(new, root.canonicalize().unwrap().join("docs/new.txt"));
        assert!(matches!(check("more/passwords.txt"), Err(Refused::Blocked)));
    }
}
