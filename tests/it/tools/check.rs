//! `weirgate check`: in which language it tells what is wrong.

use super::tool;
use crate::gateway::Gateway;

#[tokio::test]
async fn it_speaks_the_language_of_the_terminal_or_of_the_configuration() {
    let mut gateway = Gateway::bare();
    gateway.write("agent.yaml", "http: 7\nlangage: en\n");
    let english = tool(&gateway, &["check"]).await;
    assert_eq!(english.code, 78);
    assert!(
        english.err.ends_with("agent.yaml: 2 errors\n"),
        "{english:?}"
    );
    gateway.set("LANG", "zh_CN.UTF-8");
    let chinese = tool(&gateway, &["check"]).await;
    assert_eq!(chinese.code, 78);
    for part in [
        ":1:7: http: 应为映射，这里是单个值",
        ":2:1: langage: 没有这个键",
        "提示：是不是 language？",
        "agent.yaml：2 个错误",
    ] {
        assert!(chinese.err.contains(part), "{part}: {}", chinese.err);
    }
    gateway.write("agent.yaml", "language: en\n");
    let said = tool(&gateway, &["check"]).await.done();
    assert!(said.ends_with("agent.yaml: ok\n"), "{said}");
    gateway.set("LANG", "");
    gateway.write("agent.yaml", "language: zh-CN\n");
    let said = tool(&gateway, &["check"]).await.done();
    assert!(said.ends_with("agent.yaml：没有错误\n"), "{said}");
}
