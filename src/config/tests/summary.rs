//! The summary of the design's configuration, whole: what it leaves out with dots is what the section itself says.

use std::time::Duration;

use weirgate_sdk::settings::Severity;

use super::{paths, read_all};
use crate::{
    agent::{memory::config::Backend, tool::config::ToolCalling},
    inbound::config::InputBuffer,
    outbound::config::Strategy,
    schedule::config::FlowControl,
    security::config::{Mode, Reaction},
};

const SUMMARY: &str = r#"
# Agent 配置

# 输入缓冲区
input_buffer:
  max_queue_size: 1000
  max_message_age: 3600
  overflow_strategy: "drop_oldest"
  overflow_hint: "[消息过多，部分早期消息已丢弃]"

# 流控
flow_control:
  mode: "auto"
  auto:
    api_rpm_limit: 60
    messages_per_request: 5
    safety_margin: 0.8
    min_interval: 0.5
    max_interval: 10

# 上下文
context:
  max_context_tokens: 128000
  compress_threshold: 0.85
  keep_recent_messages: 6
  compress_instruction: |
    请简洁地总结对话要点...

# 工具调用
tool_calling:
  strategy: "smart"
  max_calls_per_request: 128
  timeout: 60
  max_retries: 3
  parallel_calls: true
  max_parallel_calls: 5

# 安全
security:
  injection:
    enable: true
    mode: "strict"
    patterns:
      - name: "role_play_injection"
        regex: "(?i)(you are now|forget previous|ignore all)"
        severity: "high"
      - name: "system_prompt_leak"
        regex: "(?i)(repeat your? (system|initial) (prompt|instructions))"
        severity: "high"
      - name: "code_injection"
        regex: "(?i)(```(system|prompt|instructor))"
        severity: "medium"
    on_detect: "sanitize"
  content_filter:
    enable: true
    level: "standard"
    replacement: "[已过滤]"
  leakage_prevention:
    blocked_file_patterns:
      - "**/.env"
      - "**/secrets.yaml"
      - "**/*password*"
      - "**/.git/credentials"
    blocked_output_patterns:
      - "(?i)api[_-]?key"
      - "(?i)secret"
      - "(?i)password"
    placeholder: "[REDACTED]"

# 输出
output:
  default_strategy: "streaming"
  streaming:
    chunk_size: 20
    chunk_interval: 0.05
  segmented:
    enable: true
    threshold: 500
    mode: "sentence"
    split_regex: "[。！？；\n]+"
    random_interval: "0.5,2.0"
    add_ellipsis: true
  platform_adaptation:
    strategy_by_platform:
      telegram: "segmented"
      discord: "segmented"
      webchat: "streaming"
    max_length_by_platform:
      telegram: 4096
      discord: 2000

# 记忆
memory:
  backend: "sqlite"
  sqlite:
    path: "$XDG_DATA_HOME/astrbot/state/memory.db"
  retention:
    working_memory_days: 7
    auto_summary_threshold: 50
  context_window:
    recent_rounds: 10
"#;

#[test]
fn it_loads_whole_and_each_section_says_what_stands_there() {
    let (config, _) = read_all(SUMMARY);
    assert_eq!(paths(SUMMARY, Severity::Error), [""; 0]);
    // These tests know no such platform; the program does.
    assert_eq!(
        paths(SUMMARY, Severity::Warning),
        [
            "output.platform_adaptation.strategy_by_platform.discord",
            "output.platform_adaptation.max_length_by_platform.discord",
        ]
    );
    let config = config.unwrap();
    assert_eq!(config.input_buffer, InputBuffer::default());
    assert_eq!(config.flow_control, FlowControl::default());
    assert_eq!(config.tool_calling, ToolCalling::default());
    let instruction = config.context.compress_instruction;
    assert_eq!(instruction, "请简洁地总结对话要点...\n");
    assert_eq!(config.context.keep_recent_messages, 6);

    let injection = &config.security.injection;
    assert_eq!(
        (injection.mode, injection.on_detect),
        (Mode::Strict, Reaction::Sanitize)
    );
    let names: Vec<&str> = injection.patterns.iter().map(|one| &*one.0.name).collect();
    assert_eq!(
        names,
        [
            "role_play_injection",
            "system_prompt_leak",
            "code_injection"
        ]
    );
    assert_eq!(config.security.content_filter.replacement, "[已过滤]");
    let leakage = &config.security.leakage_prevention;
    assert_eq!(leakage.blocked_file_patterns.len(), 4);
    assert_eq!(
        leakage.blocked_output_patterns,
        ["(?i)api[_-]?key", "(?i)secret", "(?i)password"]
    );

    assert_eq!(config.output.default_strategy, Strategy::Streaming);
    let adaptation = config.output.platform_adaptation;
    assert_eq!(adaptation.max_length_by_platform["telegram"], 4096);
    assert_eq!(adaptation.max_length_by_platform["discord"], 2000);
    // What it does not name keeps what is shipped.
    assert_eq!(adaptation.max_length_by_platform["qq"], 1500);

    assert_eq!(config.memory.backend, Backend::Sqlite);
    let kept = config.memory.retention;
    assert_eq!(kept.working_memory, Duration::from_hours(7 * 24));
}
