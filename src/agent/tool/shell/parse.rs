//! A command line taken apart as a shell takes it apart, as far as that tells what will be run.
//!
//! Owns quotes, escapes, expansions and the marks between commands. What is only known when it runs (a variable, what
//! another command prints) is a mark; what is run inside of another command is taken apart too. Pure, and bounded.

/// How deep commands may lie in each other.
const DEEPEST: usize = 6;
/// Most lines that come of a command line.
const MOST: usize = 2_000;
/// Longest of them, in characters.
const LONGEST: usize = 2_000;
/// Stands for what is only known when it runs.
const UNKNOWN: char = '$';
/// Commands that run another one, which stands behind their options.
const WRAPPERS: [&str; 26] = [
    "busybox", "builtin", "chrt", "command", "coproc", "doas", "env", "exec", "flock", "ionice",
    "nice", "nohup", "parallel", "pkexec", "runuser", "setsid", "setpriv", "stdbuf", "strace",
    "sudo", "taskset", "time", "timeout", "unshare", "watch", "xargs",
];
/// Words before a command that are none themselves.
const KEYWORDS: [&str; 9] = [
    "!", "do", "elif", "else", "if", "then", "until", "while", "function",
];
/// Behind these the words of a command begin.
const RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
/// Shells that take a command line as an argument.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// Their words are said, not run.
const SAYS: [&str; 2] = ["echo", "printf"];

/// The commands of a command line, each as its words with single blanks between them, without quotes, and with the name
/// of the program without its folder. One that another command's output is piped into has `| ` before it. `None` if it is
/// too tangled to be taken apart.
pub(super) fn commands(line: &str) -> Option<Vec<String>> {
    let mut scan = Scan {
        lines: Vec::new(),
        tangled: false,
    };
    scan.line(line, 0);
    (!scan.tangled).then_some(scan.lines)
}

/// A word: as it reads without what is unknown, and with a mark for that.
#[derive(Debug, Clone, Default)]
struct Word {
    known: String,
    marked: String,
}

impl Word {
    fn push(&mut self, sign: char) {
        self.known.push(sign);
        self.marked.push(sign);
    }
}

struct Scan {
    lines: Vec<String>,
    tangled: bool,
}

/// One command while it is read.
#[derive(Default)]
struct Reading {
    words: Vec<Word>,
    word: Option<Word>,
    piped: bool,
    /// Braces that are open, of which each part is a word.
    braces: usize,
}

impl Reading {
    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }
}

impl Scan {
    fn line(&mut self, line: &str, depth: usize) {
        if depth > DEEPEST || self.lines.len() > MOST {
            self.tangled = true;
            return;
        }
        let signs: Vec<char> = line.chars().collect();
        let mut reading = Reading::default();
        let mut at = 0;
        while let Some(sign) = signs.get(at).copied() {
            at += 1;
            let next = signs.get(at).copied();
            match sign {
                '\n' | ';' | '(' | ')' => self.end(&mut reading, false, depth),
                sign if sign.is_whitespace() => reading.end_word(),
                '&' if next == Some('>') => {}
                '&' => self.end(&mut reading, false, depth),
                '|' if next == Some('|') => {
                    at += 1;
                    self.end(&mut reading, false, depth);
                }
                '|' => {
                    at += usize::from(next == Some('&'));
                    self.end(&mut reading, true, depth);
                }
                '#' if reading.word.is_none() => {
                    let rest = signs.iter().skip(at);
                    at += rest.take_while(|sign| **sign != '\n').count();
                }
                '\\' => {
                    at += 1;
                    if let Some(next) = next.filter(|next| *next != '\n') {
                        reading.word().push(next);
                    }
                }
                '\'' => {
                    let (text, end) = until(&signs, at, '\'');
                    at = end;
                    let word = reading.word();
                    text.chars().for_each(|sign| word.push(sign));
                }
                '"' => at = self.quoted(&signs, at, &mut reading, depth),
                '`' => at = self.backticks(&signs, at, &mut reading, depth),
                '$' => at = self.dollar(&signs, at, (&mut reading, false), depth),
                '<' | '>' => at = self.redirect(&signs, at - 1, &mut reading, depth),
                '{' if parts_follow(&signs, at) => reading.braces += 1,
                '{' | '}' if reading.word.is_none() && reading.braces == 0 => {
                    self.end(&mut reading, false, depth);
                }
                '}' if reading.braces > 0 => reading.braces -= 1,
                ',' if reading.braces > 0 => reading.end_word(),
                sign => reading.word().push(sign),
            }
        }
        self.end(&mut reading, false, depth);
    }

    /// What stands in double quotes; gives the place behind them.
    fn quoted(
        &mut self,
        signs: &[char],
        from: usize,
        reading: &mut Reading,
        depth: usize,
    ) -> usize {
        let mut at = from;
        reading.word();
        while let Some(sign) = signs.get(at).copied() {
            at += 1;
            match sign {
                '"' => break,
                '\\' => {
                    let next = signs.get(at).copied();
                    at += 1;
                    match next {
                        Some(next @ ('$' | '`' | '"' | '\\')) => reading.word().push(next),
                        Some('\n') | None => {}
                        Some(next) => {
                            reading.word().push('\\');
                            reading.word().push(next);
                        }
                    }
                }
                '`' => at = self.backticks(signs, at, reading, depth),
                '$' => at = self.dollar(signs, at, (reading, true), depth),
                sign => reading.word().push(sign),
            }
        }
        at
    }

    /// A command whose output takes its place.
    fn backticks(
        &mut self,
        signs: &[char],
        from: usize,
        reading: &mut Reading,
        depth: usize,
    ) -> usize {
        let (inner, end) = until(signs, from, '`');
        self.line(&inner.replace("\\`", "`"), depth + 1);
        reading.word().marked.push(UNKNOWN);
        end
    }

    /// What stands behind a dollar.
    fn dollar(
        &mut self,
        signs: &[char],
        from: usize,
        (reading, quoted): (&mut Reading, bool),
        depth: usize,
    ) -> usize {
        let separates = |reading: &mut Reading| {
            if quoted {
                reading.word().push(' ');
            } else {
                reading.end_word();
            }
        };
        match signs.get(from).copied() {
            Some('\'') if !quoted => {
                let (text, end) = until(signs, from + 1, '\'');
                let word = reading.word();
                escaped(&text).for_each(|sign| word.push(sign));
                end
            }
            // A translated text is quoted like any other.
            Some('"') if !quoted => from,
            Some('(') => {
                let (inner, end) = balanced(signs, from, ('(', ')'));
                self.line(&inner, depth + 1);
                reading.word().marked.push(UNKNOWN);
                end
            }
            Some('{') => {
                let (inner, end) = balanced(signs, from, ('{', '}'));
                if inner.starts_with("IFS") {
                    separates(reading);
                } else {
                    // A default may be a command.
                    self.line(&inner, depth + 1);
                    reading.word().marked.push(UNKNOWN);
                }
                end
            }
            Some(sign) if sign.is_ascii_alphabetic() || sign == '_' => {
                let in_name = |sign: &&char| sign.is_ascii_alphanumeric() || **sign == '_';
                let name: String = signs.iter().skip(from).take_while(in_name).collect();
                if name == "IFS" {
                    separates(reading);
                } else {
                    reading.word().marked.push(UNKNOWN);
                }
                from + name.len()
            }
            Some(sign) if sign.is_ascii_digit() || "@*#?!-$".contains(sign) => {
                reading.word().marked.push(UNKNOWN);
                from + 1
            }
            _ => {
                reading.word().push('$');
                from
            }
        }
    }

    /// Where to or from: a word of its own, and what follows is another.
    fn redirect(
        &mut self,
        signs: &[char],
        from: usize,
        reading: &mut Reading,
        depth: usize,
    ) -> usize {
        let is_number = |word: &Word| {
            !word.marked.is_empty() && word.marked.bytes().all(|byte| byte.is_ascii_digit())
        };
        reading.word = reading.word.take().filter(|word| !is_number(word));
        reading.end_word();
        let mark = signs.get(from).copied().unwrap_or('>');
        let of_mark = |sign: &&char| matches!(sign, '<' | '>' | '&' | '|');
        let end = from + signs.iter().skip(from).take_while(of_mark).count();
        if signs.get(end) == Some(&'(') {
            let (inner, end) = balanced(signs, end, ('(', ')'));
            self.line(&inner, depth + 1);
            reading.word().marked.push(UNKNOWN);
            return end;
        }
        reading.word().push(mark);
        reading.end_word();
        end
    }

    /// A command is over.
    fn end(&mut self, reading: &mut Reading, pipes: bool, depth: usize) {
        reading.end_word();
        let words = std::mem::take(&mut reading.words);
        let piped = std::mem::replace(&mut reading.piped, pipes);
        let skipped = words.iter().take_while(|word| is_before(word)).count();
        self.command(words.get(skipped..).unwrap_or_default(), piped, depth);
    }

    /// What a command runs: it, and what stands in its words.
    fn command(&mut self, words: &[Word], piped: bool, depth: usize) {
        let Some(first) = words.first() else { return };
        if depth > DEEPEST || self.lines.len() > MOST {
            self.tangled = true;
            return;
        }
        self.say(words, piped);
        let name = base(&first.known);
        let rest = words.get(1..).unwrap_or_default();
        if WRAPPERS.contains(&name) {
            let skipped = rest.iter().take_while(|word| is_option(word)).count();
            let inner = rest.get(skipped..).unwrap_or_default();
            self.command(inner, piped, depth + 1);
        }
        if name == "eval" {
            let joined: Vec<&str> = rest.iter().map(|word| word.known.as_str()).collect();
            self.line(&joined.join(" "), depth + 1);
        }
        let runs = words
            .iter()
            .enumerate()
            .filter(|(_, word)| RUNS.contains(&word.known.as_str()));
        for (place, _) in runs {
            let inner = words.get(place + 1..).unwrap_or_default();
            let ends = |word: &&Word| !matches!(word.known.as_str(), ";" | "+");
            let length = inner.iter().take_while(ends).count();
            self.command(inner.get(..length).unwrap_or_default(), false, depth + 1);
        }
        let is_shell = SHELLS.contains(&name);
        let mut option = false;
        for word in words {
            let spaced = word.known.contains(char::is_whitespace);
            if option && is_shell {
                self.line(&word.known, depth + 1);
            } else if spaced && !SAYS.contains(&name) {
                self.quoted_code(&word.known, depth + 1);
            }
            option = word.known.starts_with('-') && word.known.contains('c');
        }
    }

    /// A word that may be code of any language: what of it reads like a command with a name is one.
    fn quoted_code(&mut self, text: &str, depth: usize) {
        let before = self.lines.len();
        self.line(text, depth);
        let named = |line: &String| {
            let line = line.trim_start_matches("| ");
            let name = line.split(' ').next().unwrap_or_default();
            !name.contains([UNKNOWN, '?', '*'])
        };
        let mut place = 0;
        self.lines.retain(|line| {
            place += 1;
            place <= before || named(line)
        });
    }

    fn say(&mut self, words: &[Word], piped: bool) {
        let mark = if piped { "| " } else { "" };
        let join = |text: fn(&Word) -> &str| {
            let mut line = String::from(mark);
            for (place, word) in words.iter().enumerate() {
                let text = text(word);
                let text = if place == 0 { base(text) } else { text };
                if place > 0 {
                    line.push(' ');
                }
                line.push_str(text);
            }
            line.chars().take(LONGEST).collect::<String>()
        };
        let known = join(|word| &word.known);
        let marked = join(|word| &word.marked);
        if marked != known {
            self.lines.push(marked);
        }
        self.lines.push(known);
    }
}

/// A program's name without its folder.
fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A word that stands before a command: a variable for it, or a keyword.
fn is_before(word: &Word) -> bool {
    let assigns = word.known.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('+');
        let starts = name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
        starts
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    assigns || KEYWORDS.contains(&word.known.as_str())
}

/// A word behind a command that runs another: an option, its number, or a variable.
fn is_option(word: &Word) -> bool {
    let known = &word.known;
    let number = known.starts_with(|sign: char| sign.is_ascii_digit());
    known.starts_with('-') || number || is_before(word)
}

/// The text up to a sign, and the place behind that.
fn until(signs: &[char], from: usize, end: char) -> (String, usize) {
    let mut text = String::new();
    let mut at = from;
    while let Some(sign) = signs.get(at).copied() {
        at += 1;
        if sign == end {
            return (text, at);
        }
        text.push(sign);
        if sign == '\\'
            && end != '\''
            && let Some(next) = signs.get(at)
        {
            text.push(*next);
            at += 1;
        }
    }
    (text, at)
}

/// What stands between brackets that begin at a place, and the place behind them.
fn balanced(signs: &[char], from: usize, (open, close): (char, char)) -> (String, usize) {
    let mut text = String::new();
    let (mut depth, mut quote, mut at) = (0_usize, None, from);
    while let Some(sign) = signs.get(at).copied() {
        at += 1;
        match (quote, sign) {
            (None, '\\') => {
                text.push(sign);
                text.extend(signs.get(at));
                at += 1;
                continue;
            }
            (None, '\'' | '"') => quote = Some(sign),
            (Some(open), _) if open == sign => quote = None,
            (None, _) if sign == open => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            (None, _) if sign == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (text, at);
                }
            }
            _ => {}
        }
        text.push(sign);
    }
    (text, at)
}

/// Whether braces that were just opened have parts: `{a,b}`.
fn parts_follow(signs: &[char], from: usize) -> bool {
    let inner: String = signs
        .iter()
        .skip(from)
        .take_while(|sign| **sign != '}' && !sign.is_whitespace())
        .collect();
    let closes = signs.get(from + inner.chars().count()) == Some(&'}');
    closes && inner.contains(',')
}

/// A text whose signs may be written as numbers.
fn escaped(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut signs = text.chars().peekable();
    std::iter::from_fn(move || {
        let sign = signs.next()?;
        if sign != '\\' {
            return Some(sign);
        }
        let (radix, most) = match signs.peek()? {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            'n' => {
                signs.next();
                return Some('\n');
            }
            't' => {
                signs.next();
                return Some('\t');
            }
            _ => return signs.next(),
        };
        if radix == 16 {
            signs.next();
        }
        let mut number = 0_u32;
        for _ in 0..most {
            let Some(digit) = signs.peek().and_then(|sign| sign.to_digit(radix)) else {
                break;
            };
            signs.next();
            number = number.saturating_mul(radix).saturating_add(digit);
        }
        Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
    })
}

#[cfg(test)]
mod tests;
