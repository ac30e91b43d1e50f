//! The words of a text as they are searched: plain words, and pairs of neighbours where a script has no blanks.
//!
//! Owns how a text is taken apart, the same for what is kept and for what is asked, and how alike two texts are. Most
//! Chinese words have two characters, so their pairs find them; a run of one is its own word. Pure.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

/// Most words of one text.
const MOST: usize = 400;
/// English words that say nothing about what a text is about.
const EMPTY: [&str; 72] = [
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "could", "did",
    "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in",
    "is", "it", "its", "just", "let", "me", "my", "no", "not", "of", "on", "or", "our", "please",
    "s", "say", "she", "so", "some", "t", "tell", "that", "the", "their", "them", "then", "there",
    "they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who",
    "why", "will", "with", "you", "your",
];
/// Chinese characters that only bind others: a pair of two of them says nothing.
const BINDING: &str = "的了是我你他她它们在有和就不人都一个上也很到说要去会着没看好自己这那吗呢吧啊么什怎哪谁请把被给让跟与及或";

/// The words of a text, each once, in order.
#[must_use]
pub fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let plain: String = text.nfkc().flat_map(char::to_lowercase).collect();
    for run in runs(&plain) {
        if found.len() >= MOST {
            break;
        }
        match run {
            Run::Plain(word) => {
                let word = stem(word);
                if !EMPTY.contains(&word) {
                    found.insert(word.to_owned());
                }
            }
            Run::Wide(run) => found.extend(pairs(run)),
        }
    }
    found
}

/// As they are stored.
#[must_use]
pub fn stored(text: &str) -> String {
    words(text).into_iter().collect::<Vec<_>>().join(" ")
}

/// How alike two texts are, by the words that they share, from 0 to 1.
#[must_use]
pub fn likeness(one: &str, other: &str) -> f64 {
    let (one, other) = (words(one), words(other));
    let shared = one.intersection(&other).count();
    let all = one.len() + other.len();
    if all == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "texts have few words")]
    let likeness = 2.0 * shared as f64 / all as f64;
    likeness
}

/// A run of characters of one sort.
enum Run<'a> {
    Plain(&'a str),
    Wide(&'a str),
}

fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    words.flat_map(|word| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let wide = is_wide(first);
            let end = rest
                .find(|sign| is_wide(sign) != wide)
                .unwrap_or(rest.len());
            let (run, left) = rest.split_at(end);
            rest = left;
            Some(if wide {
                Run::Wide(run)
            } else {
                Run::Plain(run)
            })
        })
    })
}

/// Whether words of this script are not parted by blanks: Han, kana, Hangul syllables, Thai and the like.
fn is_wide(sign: char) -> bool {
    matches!(sign, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn pairs(run: &str) -> Vec<String> {
    let signs: Vec<char> = run.chars().collect();
    if let [one] = signs.as_slice() {
        return vec![one.to_string()];
    }
    let says = |pair: &&[char]| !pair.iter().all(|sign| BINDING.contains(*sign));
    let pairs = signs.windows(2).filter(says);
    pairs.map(|pair| pair.iter().collect()).collect()
}

/// A word without the commonest endings of English, so that one form finds the other.
fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let cut = |ending: &str, least: usize| {
        let short = word.strip_suffix(ending)?;
        (short.len() >= least).then_some(short)
    };
    cut("'s", 2)
        .or_else(|| cut("ing", 4))
        .or_else(|| cut("ed", 4))
        .or_else(|| {
            if word.ends_with("ss") {
                None
            } else {
                cut("s", 3)
            }
        })
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        words(text).into_iter().collect()
    }

    #[test]
    fn texts_of_both_scripts_are_taken_apart() {
        assert_eq!(list("The door CODES are ①23"), ["123", "code", "door"]);
        assert_eq!(
            list("我喜欢北京烤鸭"),
            ["京烤", "北京", "喜欢", "我喜", "欢北", "烤鸭"]
        );
        assert_eq!(list("用Rust写代码"), ["rust", "代码", "写代", "用"]);
        assert_eq!(list("这是什么的？"), [""; 0], "nothing but binding words");
        assert_eq!(list("猫"), ["猫"]);
        assert_eq!(stored("a b\u{0}\"OR\""), "b");
        assert!(list(&"word0 ".repeat(10)).len() == 1);
    }

    #[test]
    fn a_word_of_two_characters_finds_its_sentence() {
        let kept = words("她对花生过敏，不能吃坚果");
        for asked in ["花生", "过敏", "坚果"] {
            assert!(words(asked).is_subset(&kept), "{asked}");
        }
    }

    #[test]
    fn likeness_is_between_nothing_and_everything() {
        let close = |one: &str, other: &str| likeness(one, other);
        assert!((close("Ann likes tea", "ann likes TEA!") - 1.0).abs() < 1e-9);
        assert!(close("小明喜欢喝茶", "小明喜欢喝绿茶") > 0.5);
        assert!(close("小明喜欢喝茶", "明天开会") < 0.1);
        assert!(close("", "") < 1e-9);
    }
}
