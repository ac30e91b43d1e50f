//! Why something that was asked for elsewhere is not there.
//!
//! Owns these texts, for people who ask by a command; a model is told the English ones.

use super::Language;

/// Why there is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The operator has to mend the configuration.
    SetUpWrongly,
    /// The service cannot be reached.
    Unreachable,
    /// The service answered with this HTTP status.
    Status(u16),
    /// The answer of the service is none that is understood.
    Unreadable,
    /// It took too long.
    TooSlow,
    /// There is no place of this name.
    NoPlace,
    /// Nothing was found.
    NothingFound,
    /// The text may not be given to a model.
    NotForModels,
    /// No model answered.
    NoModel,
    /// The model did not do it.
    ModelRefused,
}

impl Trouble {
    /// All kinds, one of each.
    pub const ALL: [Self; 10] = [
        Self::SetUpWrongly,
        Self::Unreachable,
        Self::Status(503),
        Self::Unreadable,
        Self::TooSlow,
        Self::NoPlace,
        Self::NothingFound,
        Self::NotForModels,
        Self::NoModel,
        Self::ModelRefused,
    ];

    /// The text in a language.
    #[must_use]
    pub fn render(self, language: Language) -> String {
        match language {
            Language::En => self.english(),
            Language::Zh => self.chinese(),
        }
    }

    fn english(self) -> String {
        match self {
            Self::SetUpWrongly => "It is set up wrongly.".to_owned(),
            Self::Unreachable => "The service cannot be reached.".to_owned(),
            Self::Status(status) => format!("The server answered with status {status}."),
            Self::Unreadable => "The answer of the service cannot be read.".to_owned(),
            Self::TooSlow => "It took too long.".to_owned(),
            Self::NoPlace => "There is no place of this name.".to_owned(),
            Self::NothingFound => "Nothing was found.".to_owned(),
            Self::NotForModels => "This text is not given to a model here.".to_owned(),
            Self::NoModel => "No model answered.".to_owned(),
            Self::ModelRefused => "The model gave nothing for it.".to_owned(),
        }
    }

    fn chinese(self) -> String {
        match self {
            Self::SetUpWrongly => "它的配置有误。".to_owned(),
            Self::Unreachable => "连不上该服务。".to_owned(),
            Self::Status(status) => format!("服务器返回了状态码 {status}。"),
            Self::Unreadable => "看不懂该服务的回复。".to_owned(),
            Self::TooSlow => "用时太长。".to_owned(),
            Self::NoPlace => "没有叫这个名字的地方。".to_owned(),
            Self::NothingFound => "什么也没有找到。".to_owned(),
            Self::NotForModels => "这段文字在这里不会交给模型。".to_owned(),
            Self::NoModel => "没有模型作答。".to_owned(),
            Self::ModelRefused => "模型没有给出结果。".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_sentence_of_its_own_in_both_languages() {
        for language in Language::ALL {
            let mut told: Vec<String> = Trouble::ALL
                .into_iter()
                .map(|trouble| trouble.render(language))
                .collect();
            assert!(told.iter().all(|text| text.ends_with(['.', '。'])));
            told.sort();
            told.dedup();
            assert_eq!(told.len(), Trouble::ALL.len());
        }
        let chinese = Trouble::Status(502).render(Language::Zh);
        assert!(chinese.contains("502") && !chinese.contains("status"));
    }
}
