//! Frames that no OneBot implementation should write, and some do.

pub(super) const fn onebot_frames() -> &'static [&'static str] {
    &[
        "",
        "nonsense",
        "null",
        "[]",
        "{}",
        "1e999",
        r#"{"post_type":"message"}"#,
        r#"{"post_type":5,"self_id":10001}"#,
        r#"{"post_type":"weather","self_id":10001,"time":1}"#,
        r#"{"post_type":"notice","notice_type":"essence","self_id":10001,"time":"x"}"#,
        r#"{"post_type":"message","message_type":"private","self_id":10001,"time":1,
            "user_id":null,"message_id":1,"message":"x"}"#,
        r#"{"post_type":"message","message_type":"private","self_id":10001,"time":-1,
            "user_id":"20001","message_id":"2147483648","message":{"type":"text"}}"#,
        r#"{"post_type":"message","message_type":"group","self_id":10001,"time":1,
            "group_id":1.5,"user_id":20001,"message_id":7,"message":[null,5,"x",{"type":[]}]}"#,
        r#"{"post_type":"message","message_type":"galaxy","self_id":10001,"time":1,
            "user_id":20001,"message_id":8,"message":[{"type":"text","data":{"text":null}}]}"#,
        r#"{"post_type":"message","message_type":"private","self_id":10001,"time":1,
            "user_id":20001,"message_id":9,"message":[{"type":"hologram","data":"?"}]}"#,
        r#"{"post_type":"meta_event","meta_event_type":"heartbeat","self_id":10001,
            "interval":"soon","status":null}"#,
        r#"{"status":"ok","retcode":0,"data":null,"echo":"never asked"}"#,
        r#"{"status":"failed","retcode":"?","echo":{"a":1}}"#,
    ]
}

/// The same of visitors of a site.
pub(super) const fn site_frames() -> &'static [&'static str] {
    &[
        "",
        "nonsense",
        "null",
        "[]",
        "{}",
        "\u{0}",
        r#"{"type":null}"#,
        r#"{"type":"dance"}"#,
        r#"{"type":"text"}"#,
        r#"{"type":"text","messageId":5,"content":"x"}"#,
        r#"{"type":"text","messageId":"","content":"x"}"#,
        r#"{"type":"text","messageId":"a b/../","content":{"text":[1]}}"#,
        r#"{"type":"text","messageId":"q","content":"\ud800"}"#,
        r#"{"type":"text","messageId":"w","content":{"text":"   "}}"#,
        r#"{"type":"text","messageId":"e","sessionId":{},"content":"x"}"#,
        r#"{"type":"stop","sessionId":"../../etc"}"#,
        r#"{"type":"system","content":{"act":"selfDestruct"}}"#,
        r#"{"type":"system","content":7}"#,
        "{\"type\":\"ping\"}\n{\n{\"type\":\"ping\"}",
    ]
}

/// The same of callers of an agent.
pub(super) const fn agent_lines() -> &'static [&'static str] {
    &[
        "",
        "nonsense",
        "null",
        "[]",
        "{}",
        "\u{0}",
        r#"[{"jsonrpc":"2.0","id":1,"method":"agent/list"}]"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"agent/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"agent/dance"}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"agent/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"agent/call","params":{"args":{"task":7}}}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"agent/call","params":{"args":{"task":"x"},"session":"../.."}}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"agent/call","params":{"agent":"x","args":{"task":"x"}}}"#,
        r#"{"jsonrpc":"2.0","method":"agent/call","params":{"args":{"task":"nobody waits"}}}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"agent/cancel","params":{"id":null}}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"agent/watch","params":{"session":{}}}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"auth","params":{"token":7}}"#,
        r#"{"jsonrpc":"2.0","id":1e999,"method":"agent/list"}"#,
    ]
}
