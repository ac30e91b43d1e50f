//! What the shipped agent.yaml says about each key: the comment above it, and the value beside it.
//!
//! Owns how comments belong to keys. An example that is commented out counts as if it were not: a block of
//! comments is one unless a key stands right below it. In an example a comment that reads like a key is one if
//! there is such a key. Pure; it reads the shipped file only, and a test shows that every key is found there.

use super::DEFAULT_FILE;

/// A key of the shipped file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commented {
    /// The names on the way to it.
    pub(super) path: Vec<String>,
    /// The comment, as one line.
    pub(super) comment: String,
    /// What stands behind the colon; empty if something follows below.
    pub(super) value: String,
    /// It is part of an example.
    pub(super) example: bool,
}

/// All keys of the shipped file, in its order. `known` says whether there is a key of that path.
pub(super) fn all(known: &dyn Fn(&[String]) -> bool) -> Vec<Commented> {
    keys(&bared(DEFAULT_FILE), known)
}

/// A line as it would be without the mark of a comment around an example.
#[derive(Debug, Clone)]
struct Line {
    text: String,
    example: bool,
}

fn column(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The lines with the examples in them uncovered.
fn bared(text: &str) -> Vec<Line> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if !is_comment(first) {
            out.push(Line {
                text: (*first).to_owned(),
                example: false,
            });
            rest = after;
            continue;
        }
        let at = column(first);
        let same = |line: &&&str| is_comment(line) && column(line) == at;
        let length = rest.iter().take_while(same).count();
        let (block, after) = rest.split_at(length);
        let next = after.first();
        let about_next = next.is_some_and(|next| column(next) == at && key(next).is_some());
        out.extend(block.iter().map(|line| {
            if about_next {
                return Line {
                    text: (*line).to_owned(),
                    example: false,
                };
            }
            uncovered(line, at)
        }));
        rest = after;
    }
    out
}

/// A line of an example without its mark; words remain a comment.
fn uncovered(line: &str, at: usize) -> Line {
    let bare = line.trim_start().trim_start_matches('#');
    let bare = bare.strip_prefix(' ').unwrap_or(bare);
    let margin = " ".repeat(at);
    let text = if key(bare).is_some() || is_comment(bare) || bare.trim_start().starts_with("- ") {
        format!("{margin}{bare}")
    } else {
        format!("{margin}# {bare}")
    };
    Line {
        text,
        example: true,
    }
}

/// The key and the value of a line that has them.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_start().split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-/".contains(c);
    let is_key = !key.is_empty() && key.chars().all(plain);
    let apart = value.is_empty() || value.starts_with(' ');
    (is_key && apart).then(|| (key, value.trim()))
}

/// What stands behind the dash of an item of a list.
fn item(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("- ")
}

fn keys(lines: &[Line], known: &dyn Fn(&[String]) -> bool) -> Vec<Commented> {
    let mut found = Vec::new();
    let mut way: Vec<(usize, String)> = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    let mut above_at = 0;
    for line in lines {
        let at = column(&line.text);
        let words = line.text.trim_start().trim_start_matches('#').trim();
        // Another way to write what stands here, commented out. Outside of an example only the name of a
        // secret's file is one: words before a colon may be a key's, too.
        let other = key(words).filter(|(name, _)| {
            let above = way.iter().filter(|(column, _)| *column < at);
            let mut path: Vec<String> = above.map(|(_, name)| name.clone()).collect();
            path.push((*name).to_owned());
            (line.example || name.ends_with("_file")) && known(&path)
        });
        let commented = other.is_some();
        if is_comment(&line.text) && !commented {
            if at != above_at {
                above.clear();
            }
            above_at = at;
            above.push(words);
            continue;
        }
        if let Some((name, value)) = other.or_else(|| key(item(&line.text).unwrap_or(&line.text))) {
            way.retain(|(column, _)| *column < at);
            let mut here = at;
            if item(&line.text).is_some() {
                // The keys of an item stand behind its dash.
                here += 2;
                if let Some((_, list)) = way.last_mut() {
                    list.push_str("[]");
                }
            }
            way.push((here, name.to_owned()));
            let comment = if above_at == at {
                above.join(" ")
            } else {
                String::new()
            };
            found.push(Commented {
                path: way.iter().map(|(_, name)| name.clone()).collect(),
                comment,
                value: value.to_owned(),
                example: line.example || commented,
            });
        }
        above.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Words about the file.

# The first.
one:
  # Or like this.
  # the_file: 7
  # auto: by itself; manual: by hand.
  mode: auto
  # An example follows.
  # other:
  #   # Deep
  #   # inside.
  #   key: 5
  #   # like: this, or
  #   # second: 6
# Not above a key of its column.
  two: 2
  # A list.
  all:
    # Its first.
    - name: a
      # Its second.
      size: 1
    - {name: b, size: 2}
  # After it.
  last: 3
";

    #[test]
    fn comments_belong_to_the_key_below_and_examples_are_keys_too() {
        let known = |path: &[String]| {
            let name = path.last().map_or("", String::as_str);
            ["second", "the_file", "auto"].contains(&name)
        };
        let found: Vec<String> = keys(&bared(TEXT), &known)
            .iter()
            .map(|key| {
                let mark = if key.example { "e" } else { "" };
                format!("{}={}{mark} {}", key.path.join("."), key.value, key.comment)
            })
            .collect();
        assert_eq!(
            found,
            [
                "one= The first.",
                "one.the_file=7e Or like this.",
                "one.mode=auto auto: by itself; manual: by hand.",
                "one.other=e An example follows.",
                "one.other.key=5e Deep inside.",
                "one.other.second=6e like: this, or",
                "one.two=2 ",
                "one.all= A list.",
                "one.all[].name=a Its first.",
                "one.all[].size=1 Its second.",
                "one.last=3 After it.",
            ]
        );
    }
}
