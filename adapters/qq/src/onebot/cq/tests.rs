//! Codes are found first, then each part is unescaped once.

use proptest::prelude::*;

use super::*;

fn text(text: &str) -> Part<'_> {
    Part::Text(Cow::Borrowed(text))
}

#[test]
fn escaped_text_that_looks_like_a_code_stays_text() {
    let parts = split("&#91;CQ:image,file=x.jpg&#93; &amp;#91;ok&amp;#93;");
    assert_eq!(parts, [text("[CQ:image,file=x.jpg] &#91;ok&#93;")]);
}

#[test]
fn escaped_brackets_in_parameters_do_not_end_the_code() {
    let parts = split("[CQ:image,file=a.jpg,file_unique=W@C&#93;9&#91;S&#44;1.jpg]hello");
    let Some(Part::Code { kind, parameters }) = parts.first() else {
        panic!("{parts:?}")
    };
    assert_eq!(*kind, "image");
    assert_eq!(parameters[0], ("file", "a.jpg"));
    assert_eq!(unescape(parameters[1].1), "W@C]9[S,1.jpg");
    assert_eq!(parts[1..], [text("hello")]);
}

#[test]
fn what_is_no_whole_code_is_text() {
    for whole in ["[CQ:at,qq=1", "a ] b", "[", "[CQ", "&", "&#9", "&nbsp;"] {
        assert_eq!(split(whole), [text(whole)]);
    }
    assert_eq!(split(""), []);
    let parts = split("[CQ:shake][CQ:]x[CQ:at,qq,=,a=b=c]");
    assert_eq!(parts.len(), 4);
    assert_eq!(
        parts[3],
        Part::Code {
            kind: "at",
            parameters: vec![("", ""), ("a", "b=c")]
        }
    );
}

/// The standard's escaping, written out here to test against.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('[', "&#91;")
        .replace(']', "&#93;")
        .replace(',', "&#44;")
}

proptest! {
    #[test]
    fn escaping_is_undone(plain in any::<String>()) {
        let string = escape(&plain);
        prop_assert_eq!(&*unescape(&string), &*plain);
        let joined: String = split(&string)
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => text.into_owned(),
                Part::Code { .. } => "code".to_owned(),
            })
            .collect();
        prop_assert_eq!(joined, plain);
    }

    #[test]
    fn any_string_is_taken(text in r"(\[CQ:|\]|,|=|&|#91;|amp;|[a-z中])*") {
        for part in split(&text) {
            if let Part::Code { parameters, .. } = part {
                for (_, value) in parameters {
                    let _ = unescape(value);
                }
            }
        }
    }
}
