//! What people are told of a configuration: what is wrong with it, what to do, and the verdict.
//!
//! Owns the texts of what every section can have wrong: one exhaustive `match` a language. What a section remarks in words of
//! its own is told in these, whatever the language.

use weirgate_sdk::settings::Kind;

use super::Language;

/// A text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Checking<'a> {
    /// What is wrong with a value.
    Wrong(&'a Kind),
    /// Before what is no error.
    Warning,
    /// What to do.
    Hint(&'a str),
    /// What stands at the end.
    Verdict {
        /// The file.
        file: &'a str,
        /// Errors in it.
        errors: usize,
        /// Warnings about it.
        warnings: usize,
    },
}

impl Checking<'_> {
    /// The text in a language.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::Zh => self.zh(),
            Language::En => self.en(),
        }
    }

    fn en(&self) -> String {
        match *self {
            Self::Wrong(kind) => kind.to_string(),
            Self::Warning => "warning: ".to_owned(),
            Self::Hint(hint) => format!("hint: {hint}"),
            Self::Verdict {
                file,
                errors,
                warnings,
            } => {
                let number = |n: usize, what: &str| match n {
                    0 => None,
                    1 => Some(format!("1 {what}")),
                    n => Some(format!("{n} {what}s")),
                };
                let fine = (errors == 0).then(|| "ok".to_owned());
                let parts = [fine, number(errors, "error"), number(warnings, "warning")];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                format!("{file}: {}", parts.join(", "))
            }
        }
    }

    fn zh(&self) -> String {
        match *self {
            Self::Wrong(kind) => wrong_zh(kind),
            Self::Warning => "警告：".to_owned(),
            Self::Hint(hint) => format!("提示：{}", hint_zh(hint)),
            Self::Verdict {
                file,
                errors,
                warnings,
            } => {
                let number = |n: usize, what: &str| (n > 0).then(|| format!("{n} 个{what}"));
                let fine = (errors == 0).then(|| "没有错误".to_owned());
                let parts = [fine, number(errors, "错误"), number(warnings, "警告")];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                format!("{file}：{}", parts.join("，"))
            }
        }
    }
}

fn wrong_zh(kind: &Kind) -> String {
    match kind {
        Kind::Unknown => "没有这个键".to_owned(),
        Kind::Duplicate { first } => format!("这个键写了两次（第一次在第 {} 行）", first.line),
        Kind::Missing => "缺少值".to_owned(),
        Kind::WrongType { expected, found } => {
            format!("应为{}，这里是{}", word_zh(expected), found_zh(found))
        }
        Kind::OutOfRange {
            found,
            least,
            most,
            unit,
        } => format!("{} 不在 {least} 到 {most}{unit} 之间", found_zh(found)),
        Kind::NotAChoice { found, choices } => {
            format!("{} 不是这些之一：{}", found_zh(found), choices.join("、"))
        }
        Kind::NotAvailable(note) | Kind::Note(note) | Kind::Invalid(note) => note.clone(),
    }
}

/// What the readers of the SDK call a sort of value.
fn word_zh(word: &str) -> &str {
    match word {
        "a single value" => "单个值",
        "a list" => "列表",
        "a map" => "映射",
        "a faulty value" => "有错误的值",
        "a whole number" => "整数",
        "a whole number that is not negative" => "非负整数",
        "a number" => "数字",
        "true or false" => "true 或 false",
        "a text" => "文本",
        "a word" => "一个词",
        "an id" => "标识",
        "an id in plain digits" => "纯数字的标识",
        other => other,
    }
}

/// A value as it is shown, or where it came from.
fn found_zh(found: &str) -> String {
    match found.strip_prefix("the value of ") {
        Some(variable) => format!("{variable} 的值"),
        None => word_zh(found).to_owned(),
    }
}

fn hint_zh(hint: &str) -> String {
    let meant = hint.strip_prefix("did you mean ");
    if let Some(meant) = meant.and_then(|rest| rest.strip_suffix('?')) {
        return format!("是不是 {meant}？");
    }
    if let Some(known) = hint.strip_prefix("known here: ") {
        return format!("这里可用：{known}");
    }
    let known = match hint {
        "write a value or remove the key" => "写上值，或去掉这个键",
        "write the digits without separators" => "数字中不要分隔符",
        "write it as digits, such as 0.5" => "写成数字，例如 0.5",
        "write the bare number; the unit is fixed" => "只写数字，单位是固定的",
        "write it in plain decimal digits" => "写成普通的十进制数字",
        other => other,
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zh(text: Checking<'_>) -> String {
        text.render(Language::Zh)
    }

    #[test]
    fn what_is_wrong_is_told_in_chinese() {
        let kind = Kind::WrongType {
            expected: "a whole number",
            found: "\"many\"".into(),
        };
        assert_eq!(zh(Checking::Wrong(&kind)), "应为整数，这里是\"many\"");
        let kind = Kind::OutOfRange {
            found: "the value of ${N}".into(),
            least: "1".into(),
            most: "9".into(),
            unit: " s",
        };
        assert_eq!(zh(Checking::Wrong(&kind)), "${N} 的值 不在 1 到 9 s 之间");
        // Words of a section's own stay as they are.
        let kind = Kind::Invalid("another server has this name".into());
        assert_eq!(zh(Checking::Wrong(&kind)), "another server has this name");
        assert_eq!(
            zh(Checking::Hint("did you mean language?")),
            "提示：是不是 language？"
        );
    }

    #[test]
    fn the_verdict_counts() {
        let verdict = |errors, warnings, language| {
            let verdict = Checking::Verdict {
                file: "a",
                errors,
                warnings,
            };
            verdict.render(language)
        };
        assert_eq!(verdict(0, 0, Language::En), "a: ok");
        assert_eq!(verdict(0, 2, Language::En), "a: ok, 2 warnings");
        assert_eq!(verdict(1, 1, Language::En), "a: 1 error, 1 warning");
        assert_eq!(verdict(0, 0, Language::Zh), "a：没有错误");
        assert_eq!(verdict(2, 1, Language::Zh), "a：2 个错误，1 个警告");
    }
}
