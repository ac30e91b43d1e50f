//! What `weirgate init` asks and says.
//!
//! Owns the texts: one exhaustive `match` a language.

use std::path::Path;

use super::Language;

/// A text.
#[derive(Debug, Clone, Copy)]
pub enum Setup<'a> {
    /// Which language.
    Language,
    /// Which provider.
    BaseUrl,
    /// Which model.
    Model,
    /// Which key.
    Key,
    /// Which platforms.
    Platforms {
        /// Those of this build.
        known: &'a str,
    },
    /// There is no such platform.
    NoPlatform {
        /// The name.
        name: &'a str,
    },
    /// There is a file already.
    Exists {
        /// The file.
        path: &'a Path,
    },
    /// The questions were not answered.
    Stopped,
    /// The file could not be written.
    NotWritten {
        /// The file.
        path: &'a Path,
        /// What the system said.
        error: &'a str,
    },
    /// The file is written.
    Written {
        /// The file.
        path: &'a Path,
    },
}

impl Setup<'_> {
    /// The text in a language.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::En => self.en(),
            Language::Zh => self.zh(),
        }
    }

    fn en(&self) -> String {
        match self {
            Self::Language => {
                "Language of what the gateway itself says (auto, zh-CN, en) [auto]:".into()
            }
            Self::BaseUrl => "Address of the model provider, such as https://api.openai.com/v1 \
                              (empty: the built-in demonstration answers):"
                .into(),
            Self::Model => "Name of the model there:".into(),
            Self::Key => {
                "Its key, or $NAME for an environment variable (empty: none; what is typed \
                          is not shown):"
                    .into()
            }
            Self::Platforms { known } => {
                format!("Where people reach the bot ({known}; empty: a page in the browser):")
            }
            Self::NoPlatform { name } => format!("this version has no platform {name}"),
            Self::Exists { path } => format!(
                "{} exists already: name another file with --config, or write over it with --force",
                path.display()
            ),
            Self::Stopped => "nothing was written".into(),
            Self::NotWritten { path, error } => {
                format!("{} was not written: {error}", path.display())
            }
            Self::Written { path } => format!(
                "{} is written. Next: `weirgate doctor`, then `weirgate run`.",
                path.display()
            ),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Language => "网关自身用语的语言（auto、zh-CN、en）[auto]：".into(),
            Self::BaseUrl => {
                "模型服务的地址，例如 https://api.openai.com/v1（留空则由内置演示回答）：".into()
            }
            Self::Model => "模型在那里的名称：".into(),
            Self::Key => "它的密钥，或以 $NAME 指定环境变量（留空则没有；输入内容不显示）：".into(),
            Self::Platforms { known } => {
                format!("人们从哪里找到机器人（{known}；留空则是浏览器中的页面）：")
            }
            Self::NoPlatform { name } => format!("本版本没有平台 {name}"),
            Self::Exists { path } => format!(
                "{} 已存在：请用 --config 指定别的文件，或用 --force 覆盖",
                path.display()
            ),
            Self::Stopped => "没有写入任何内容".into(),
            Self::NotWritten { path, error } => format!("{} 未能写入：{error}", path.display()),
            Self::Written { path } => format!(
                "已写入 {}。接下来：`weirgate doctor`，然后 `weirgate run`。",
                path.display()
            ),
        }
    }
}
