use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(line: &str, expected: Result<Request, Code>) {
    assert_eq!(
        read(line, 20).map(|it| it.request).map_err(|it| it.code),
        expected,
        "{line}"
    );
}

fn said(text: &str) -> Result<Request, Code> {
    Ok(Request::Text {
        message: "m1".into(),
        text: text.into(),
        files: Vec::new(),
    })
}

#[test]
fn every_known_type_is_read() {
    check(
        r#"{"type":"text","messageId":"m1","content":{"text":"你好"}}"#,
        said("你好"),
    );
    check(
        r#"{"type":"text","messageId":"m1","content":"a\r\nb\rc\u0000\u0007"}"#,
        said("a\nb\nc"),
    );
    check(
        r#"{"type":"press","messageId":"m1","id":7,"button":"p/abcd/01234567/yes"}"#,
        Ok(Request::Press {
            message: "m1".into(),
            answer: 7,
            button: "p/abcd/01234567/yes".into(),
        }),
    );
    check(r#"{"type":"stop"}"#, Ok(Request::Stop));
    check(r#"{"type":"ping"}"#, Ok(Request::Ping));
    check(r#"{"type":"sync"}"#, Ok(Request::Sync));
    check(r#"{"type":"context"}"#, Ok(Request::Context));
    for act in [SessionAct::New, SessionAct::Clear, SessionAct::Delete] {
        let line = format!(
            r#"{{"type":"session","content":{{"act":"{}"}}}}"#,
            act.name()
        );
        check(&line, Ok(Request::Session(act)));
    }
    check(
        r#"{"type":"setting","content":{"act":"getConfig"}}"#,
        Ok(Request::Setting(Setting::Running)),
    );
    check(
        r#"{"type":"system","content":{"act":"getModels"}}"#,
        Ok(Request::System(Act::Models)),
    );
    check(
        r#"{"type":"history"}"#,
        Ok(Request::History {
            before: None,
            limit: 50,
        }),
    );
    check(
        r#"{"type":"history","before":7,"limit":9999}"#,
        Ok(Request::History {
            before: Some(7),
            limit: 200,
        }),
    );
    check(
        r#"{"type":"hello","token":"t","resume":{"epoch":"e","seq":3},"language":"zh-CN"}"#,
        Ok(Request::Hello(Hello {
            token: Some(Secret::new("t")),
            identity: None,
            resume: Some(Resume {
                epoch: "e".into(),
                seq: 3,
            }),
            language: Language::Chinese,
            memory: false,
        })),
    );
    check(
        r#"{"type":"hello","token":7,"resume":{"epoch":"e","seq":-1}}"#,
        Ok(Request::Hello(Hello {
            token: None,
            identity: None,
            resume: None,
            language: Language::English,
            memory: false,
        })),
    );
}

#[test]
fn what_is_wrong_has_a_code() {
    for (line, code) in [
        ("", Code::BadFrame),
        ("hello", Code::BadFrame),
        ("[]", Code::BadFrame),
        ("{}", Code::BadFrame),
        (r#"{"type":1}"#, Code::BadFrame),
        (r#"{"type":"text","messageId":"m1"}"#, Code::BadFrame),
        (
            r#"{"type":"text","messageId":"m1","content":{"text":1}}"#,
            Code::BadFrame,
        ),
        (r#"{"type":"text","content":"x"}"#, Code::MissingMessageId),
        (
            r#"{"type":"text","messageId":7,"content":"x"}"#,
            Code::BadMessageId,
        ),
        (
            r#"{"type":"text","messageId":"a b","content":"x"}"#,
            Code::BadMessageId,
        ),
        (
            r#"{"type":"text","messageId":"","content":"x"}"#,
            Code::BadMessageId,
        ),
        (
            r#"{"type":"text","messageId":"m1","content":" \u200b\n"}"#,
            Code::Empty,
        ),
        (
            r#"{"type":"text","messageId":"m1","content":"123456789012345678901"}"#,
            Code::TooLong,
        ),
        (
            r#"{"type":"stop","sessionId":"../../x"}"#,
            Code::BadSessionId,
        ),
        (r#"{"type":"stop","sessionId":""}"#, Code::BadSessionId),
        (r#"{"type":"setting"}"#, Code::BadFrame),
        (
            r#"{"type":"setting","content":{"act":"rm"}}"#,
            Code::UnknownAct,
        ),
        (r#"{"type":"chat","content":["x"]}"#, Code::MissingMessageId),
        (
            r#"{"type":"chat","messageId":"m1","content":["__BINARY__"]}"#,
            Code::BadCount,
        ),
        (
            r#"{"type":"session","content":{"act":"drop"}}"#,
            Code::UnknownAct,
        ),
        (
            r#"{"type":"system","content":{"act":"rm"}}"#,
            Code::UnknownAct,
        ),
        (r#"{"type":"history","before":"x"}"#, Code::BadFrame),
        (r#"{"type":"dance"}"#, Code::UnknownType),
    ] {
        check(line, Err(code));
    }
    let long = format!(r#"{{"type":"stop","sessionId":"{}"}}"#, "x".repeat(10_000));
    check(&long, Err(Code::BadSessionId));
}

#[test]
fn a_fault_names_the_message_it_belongs_to() {
    let fault = read(r#"{"type":"chat","messageId":"m9"}"#, 20).unwrap_err();
    assert_eq!(
        fault,
        Fault {
            code: Code::BadFrame,
            message: Some("m9".into())
        }
    );
}

#[test]
fn default_is_the_same_as_no_session() {
    let session = |line| read(line, 20).unwrap().session;
    assert_eq!(session(r#"{"type":"ping","sessionId":"default"}"#), None);
    assert_eq!(session(r#"{"type":"ping"}"#), None);
    assert_eq!(
        session(r#"{"type":"ping","sessionId":"a-B_9"}"#),
        Some("a-B_9".into())
    );
}

#[test]
fn a_message_names_files_that_were_sent_before() {
    let with = |text: &str, files: &[&str]| {
        Ok(Request::Text {
            message: "m1".into(),
            text: text.into(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        })
    };
    let line = |rest: &str| format!(r#"{{"type":"text","messageId":"m1",{rest}}}"#);
    check(
        &line(r#""content":"look","files":["a1","b2"]"#),
        with("look", &["a1", "b2"]),
    );
    check(&line(r#""files":["a1"]"#), with("", &["a1"]));
    check(&line(r#""content":" ","files":["a1"]"#), with("", &["a1"]));
    check(&line(r#""files":[]"#), Err(Code::BadFrame));
    check(&line(r#""content":" ","files":[]"#), Err(Code::Empty));
    for files in [r#""a1""#, "[1]", r#"["../x"]"#, r#"[""]"#] {
        let line = line(&format!(r#""content":"x","files":{files}"#));
        check(&line, Err(Code::BadFrame));
    }
    let many = format!("[{}]", [r#""a""#; 11].join(","));
    check(
        &line(&format!(r#""content":"x","files":{many}"#)),
        Err(Code::BadFrame),
    );
}

proptest! {
    #[test]
    fn any_line_is_read_or_refused_without_harm(line: String, id: String, text: String) {
        let _ = read(&line, 20);
        let frame = serde_json::json!({"type": "text", "messageId": id, "content": text});
        if let Ok(Line { request: Request::Text { message, text, .. }, .. }) = read(&frame.to_string(), 20) {
            prop_assert!(message.len() <= 64 && text.chars().count() <= 20);
        }
    }
}

#[test]
fn a_token_is_not_printed() {
    let line = read(r#"{"type":"hello","token":"very-private"}"#, 100).unwrap();
    let text = format!("{line:?}");
    assert!(
        text.contains("Hello") && !text.contains("private"),
        "{text}"
    );
}
