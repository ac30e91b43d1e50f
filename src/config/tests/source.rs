//! The blocks of the design that must load as they stand.

use std::time::Duration;

use weirgate_sdk::settings::Severity;

use super::{paths, read, read_all};
use crate::{
    agent::{
        config::Context,
        memory::config::{Backend, Memory},
        peer::config::Link,
        skill,
        subagent::config::Subagents,
        tool::config::{ToolCalling, Tools},
    },
    inbound::config::InputBuffer,
    outbound::config::{PlatformStrategy, SegmentMode, Strategy},
    schedule::config::FlowControl,
};

const INPUT_BUFFER: &str = r#"
input_buffer:
  # 单用户队列最大消息数
  max_queue_size: 1000

  # 消息最大存活时间（秒）
  max_message_age: 3600

  # 超出限制时的处理策略
  overflow_strategy: "drop_oldest"  # drop_oldest | drop_newest | block

  # 丢弃消息时的提示前缀
  overflow_hint: "[消息过多，部分早期消息已丢弃]"

  # 是否按用户隔离队列
  per_user_queue: true

  # 是否按会话隔离队列
  per_conversation_queue: true
"#;

const FLOW_CONTROL: &str = r#"
flow_control:
  # 消费速率模式
  mode: "auto"  # auto | manual

  # 手动模式：每秒处理消息数
  manual_rate: 10

  # 自动模式：基于 LLM API 限制计算
  auto:
    # LLM API 每分钟请求限制
    api_rpm_limit: 60

    # 每次请求预计处理消息数
    messages_per_request: 5

    # 安全系数（留一定余量）
    safety_margin: 0.8

    # 最小消费间隔（秒）
    min_interval: 0.5

    # 最大消费间隔（秒）
    max_interval: 10
"#;

const CONTEXT: &str = r#"
context:
  # 最大上下文 token 数
  max_context_tokens: 128000

  # 触发压缩的阈值（比例）
  compress_threshold: 0.85

  # 压缩后保留的最近消息数
  keep_recent_messages: 6

  # 压缩提供者（为空则使用主 Provider）
  compress_provider_id: ""

  # 压缩提示词
  compress_instruction: |
    请简洁地总结对话要点，保留关键信息如：
    - 用户的主要需求或问题
    - 已确定的方案或结论
    - 未完成的任务

  # 消息保留策略
  retention:
    # 保留最近 N 小时内的原始消息
    recent_hours: 24

    # 超出后转为摘要存储
    summarize_after: true
"#;

const OUTPUT: &str = r#"
output:
  # 默认输出策略
  default_strategy: "streaming"  # streaming | segmented | full

  # 流式配置
  streaming:
    # 启用流式
    enable: true

    # 流式 Chunk 大小（字符数）
    chunk_size: 20

    # Chunk 之间的间隔（秒）
    chunk_interval: 0.05

  # 智能分段配置
  segmented:
    # 启用智能分段
    enable: true

    # 触发分段的字数阈值
    threshold: 500

    # 分段方式
    mode: "sentence"  # sentence | word_count | regex

    # 按句子分段时的最小长度
    min_segment_length: 50

    # 分段正则（当 mode=regex）
    split_regex: "[。！？；\n]+"

    # 段落之间的随机间隔（秒）
    random_interval: "0.5,2.0"

    # 是否在分段前添加省略号
    add_ellipsis: true

  # 平台适配
  platform_adaptation:
    # 平台与策略映射
    strategy_by_platform:
      telegram: "segmented"    # Telegram 有字数限制
      discord: "segmented"     # Discord 也有限制
      qq: "segmented"
      webchat: "streaming"     # WebChat 支持流式

    # 平台消息长度限制
    max_length_by_platform:
      telegram: 4096
      discord: 2000
      qq: 500

  # 输出缓冲配置
  buffer:
    # 最大缓冲消息数
    max_size: 100

    # 消息最大存活时间（秒）
    max_age: 300

    # 溢出策略
    overflow_strategy: "drop_oldest"
"#;

const TOOLS: &str = r#"
# 工具配置
tools:
  # 内部工具
  internal:
    enabled: true
    max_per_request: 128

  # MCP 工具
  mcp:
    enabled: true
    servers: []  # MCP 服务器配置

  # Skills
  skills:
    enabled: true
    registry_path: "$XDG_DATA_HOME/astrbot/skills/"

# Agent 协作配置
agent_collaboration:
  # ACP 配置
  acp:
    enabled: true
    endpoints:
      - name: "local"
        type: "unix"
        path: "/run/astrbot/acp.sock"

  # 子 Agent 配置
  subagents:
    enabled: true
    max_parallel: 3
    timeout: 300

  # Agent 发现
  discovery:
    # 自动发现同进程内的 Subagent
    auto_discover_internal: true

    # 定期刷新远程 Agent 列表
    refresh_interval: 60
"#;

const TOOL_CALLING: &str = r#"
tool_calling:
  # 工具调用策略
  strategy: "smart"  # eager | sequential | smart

  # 每次请求最大工具调用数
  max_calls_per_request: 128

  # 工具调用超时（秒）
  timeout: 60

  # 工具调用失败重试次数
  max_retries: 3

  # 是否并行调用独立工具
  parallel_calls: true

  # 并行调用最大数量
  max_parallel_calls: 5

  # 工具结果的最大 token 数（截断）
  max_result_tokens: 4096

  # 是否在工具调用后立即返回中间结果
  stream_intermediate: true
"#;

const MEMORY: &str = r#"
memory:
  # 记忆存储类型
  backend: "sqlite"  # sqlite | redis | memory

  # SQLite 配置
  sqlite:
    path: "$XDG_DATA_HOME/astrbot/state/memory.db"

  # Redis 配置
  redis:
    host: "localhost"
    port: 6379
    db: 0
    prefix: "astrbot:memory:"

  # 记忆保留策略
  retention:
    # 工作记忆：保留在数据库中的时间（天）
    working_memory_days: 7

    # 长期记忆：超过后转为归档
    long_term_threshold_days: 30

    # 自动摘要阈值（对话轮数）
    auto_summary_threshold: 50

    # 每次摘要保留的关键信息数
    summary_keep_key_points: 5

  # 上下文窗口内的记忆
  context_window:
    # 保留最近 N 轮对话的完整记忆
    recent_rounds: 10

    # 超出后转为摘要
    summarize_beyond: true
"#;

#[test]
fn the_memory_loads() {
    let (config, _) = read_all(MEMORY);
    assert_eq!(paths(MEMORY, Severity::Error), [""; 0]);
    assert_eq!(paths(MEMORY, Severity::Warning), [""; 0]);
    let memory = config.unwrap().memory;
    assert_eq!(memory.backend, Backend::Sqlite);
    let path = memory.sqlite.unwrap();
    assert!(path.ends_with("astrbot/state/memory.db"), "{path:?}");
    let default = Memory::default();
    assert_eq!(memory.redis.prefix, "astrbot:memory:");
    let shipped = memory.redis.prefix.clone();
    let ours = crate::store::redis::Options {
        prefix: shipped,
        ..default.redis
    };
    assert_eq!(memory.redis, ours);
    assert_eq!(memory.retention, default.retention);
    assert_eq!(memory.context_window, default.context_window);
}

#[test]
fn the_input_buffer_and_the_flow_control_are_the_defaults() {
    let config = read(&format!("{INPUT_BUFFER}{FLOW_CONTROL}"));
    assert_eq!(config.input_buffer, InputBuffer::default());
    assert_eq!(config.flow_control, FlowControl::default());
}

#[test]
fn the_context_is_the_default() {
    let (config, problems) = read_all(CONTEXT);
    assert_eq!(config.unwrap().context, Context::default());
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn the_output_loads_and_platforms_that_are_not_there_draw_warnings() {
    let (config, _) = read_all(OUTPUT);
    assert_eq!(paths(OUTPUT, Severity::Error), [""; 0]);
    assert_eq!(
        paths(OUTPUT, Severity::Warning),
        [
            "output.platform_adaptation.strategy_by_platform.discord",
            "output.platform_adaptation.max_length_by_platform.discord",
        ]
    );
    let output = config.unwrap().output;
    assert_eq!(output.default_strategy, Strategy::Streaming);
    assert_eq!(output.segmented.mode, SegmentMode::Sentence);
    assert_eq!(output.segmented.split_regex, "[。！？；\n]+");
    assert_eq!(
        output.segmented.random_interval.min,
        Duration::from_millis(500)
    );
    assert_eq!(output.segmented.random_interval.max, Duration::from_secs(2));
    let segmented = Some(Strategy::Segmented);
    let both = PlatformStrategy {
        private: segmented,
        group: segmented,
    };
    assert_eq!(
        output.platform_adaptation.strategy_by_platform["telegram"],
        both
    );
    assert_eq!(output.platform_adaptation.max_length_by_platform["qq"], 500);
}

#[test]
fn the_tools_and_the_agents_are_the_defaults_with_one_endpoint() {
    let config = read(TOOLS);
    let tools = Tools {
        skills: skill::config::Settings {
            registry_path: config.tools.skills.registry_path.clone(),
            ..skill::config::Settings::default()
        },
        ..Tools::default()
    };
    assert_eq!(config.tools, tools);
    let path = config.tools.skills.registry_path.unwrap();
    assert!(path.ends_with("astrbot/skills/"), "{path:?}");
    let collaboration = config.agent_collaboration;
    let [endpoint] = &*collaboration.acp.endpoints else {
        panic!("{:?}", collaboration.acp.endpoints);
    };
    let link = Link::Unix("/run/astrbot/acp.sock".into());
    assert_eq!((endpoint.name.as_str(), &endpoint.link), ("local", &link));
    assert_eq!(collaboration.subagents, Subagents::default());
    assert!(collaboration.acp.enabled && collaboration.auto_discover_internal);
    assert_eq!(collaboration.refresh, Duration::from_secs(60));
}

#[test]
fn the_calling_of_tools_is_the_default() {
    assert_eq!(read(TOOL_CALLING).tool_calling, ToolCalling::default());
}
