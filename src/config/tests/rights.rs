//! The blocks of the design about security and rights, which must load as they stand.

use super::read_all;
use crate::{permission::Permissions, security::config::Security};

const SECURITY: &str = r#"
security:
  # 防注入配置
  injection:
    # 启用防注入
    enable: true

    # 检测模式
    mode: "strict"  # strict | moderate | permissive

    # 注入模式识别
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

    # 触发时的处理策略
    on_detect: "sanitize"  # sanitize | block | warn

    # 是否记录检测日志
    log_detections: true

  # 内容过滤配置
  content_filter:
    # 启用内容过滤
    enable: true

    # 过滤级别
    level: "standard"  # strict | standard | minimal

    # 敏感词列表（文件路径或内联）
    blocklist: []

    # 替换字符
    replacement: "[已过滤]"

  # 泄密防护
  leakage_prevention:
    # 阻止 Agent 读取敏感文件模式
    blocked_file_patterns:
      - "**/.env"
      - "**/secrets.yaml"
      - "**/*password*"
      - "**/.git/credentials"

    # 阻止 Agent 输出敏感信息模式
    blocked_output_patterns:
      - "(?i)api[_-]?key"
      - "(?i)secret"
      - "(?i)password"

    # 替换为占位符
    placeholder: "[REDACTED]"
"#;

const PERMISSIONS: &str = r#"
permissions:
  # 默认角色权限
  default_role: "member"

  # 角色能力定义
  roles:
    owner:
      capabilities: 0o700
      inherits: ["admin"]

    admin:
      capabilities: 0o600
      inherits: ["member"]

    member:
      capabilities: 0o400
      inherits: ["guest"]

    guest:
      capabilities: 0o100
      inherits: []

    blocked:
      capabilities: 0o000
      inherits: []

  # 斜杠命令权限
  commands:
    # 公开命令（所有人均可使用）
    public:
      - "/help"
      - "/status"
      - "/ping"

    # 成员命令（member 及以上）
    member:
      - "/search"
      - "/weather"
      - "/translate"

    # 管理员命令（admin 及以上）
    admin:
      - "/kick"
      - "/ban"
      - "/mute"
      - "/warn"
      - "/config"

    # 拥有者命令（仅 owner）
    owner:
      - "/transfer"
      - "/delete"
      - "/backup"
      - "/reload"

  # 权限继承配置
  inheritance:
    enabled: true
    max_depth: 5  # 最大继承深度，防止循环
"#;

#[test]
fn the_security_is_the_default_but_for_what_ordinary_answers_say() {
    let (config, problems) = read_all(SECURITY);
    assert!(problems.is_empty(), "{problems:?}");
    let mut security = config.unwrap().security;
    let shipped = Security::default();
    let patterns = &mut security.leakage_prevention.blocked_output_patterns;
    assert_eq!(*patterns, ["(?i)api[_-]?key", "(?i)secret", "(?i)password"]);
    // The gateway ships other patterns for answers, because those would take ordinary words out.
    patterns.clone_from(&shipped.leakage_prevention.blocked_output_patterns);
    assert_eq!(security, shipped);
}

#[test]
fn the_permissions_are_the_default_with_a_list_of_commands() {
    let (config, problems) = read_all(PERMISSIONS);
    assert!(problems.is_empty(), "{problems:?}");
    let permissions = config.unwrap().permissions;
    assert_eq!(permissions.commands.len(), 15);
    let shipped = Permissions {
        commands: permissions.commands.clone(),
        ..Permissions::default()
    };
    assert_eq!(permissions, shipped);
}
