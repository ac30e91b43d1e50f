//! Simplified Chinese.

use weirgate_sdk::Finding;

use super::{Health, Here, Keep, Reach, Subject};
use crate::{i18n::Language, sandbox::kernel::Lacks};

/// The name of a subject.
pub(super) fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Configuration => "配置".into(),
        Subject::Folder => "数据目录".into(),
        Subject::Gateway => "网关".into(),
        Subject::Disk => "磁盘".into(),
        Subject::Clock => "时钟".into(),
        Subject::Store => "数据库".into(),
        Subject::Http => "http".into(),
        Subject::Account(name) => format!("账号 {name}"),
        Subject::Model(name) => format!("模型 {name}"),
        Subject::Embed(name) => format!("向量 {name}"),
        Subject::Redis => "redis".into(),
        Subject::Program(None) => "外部程序".into(),
        Subject::Program(Some(name)) => format!("外部程序 {name}"),
        Subject::Skill(None) => "技能".into(),
        Subject::Skill(Some(name)) => format!("技能 {name}"),
        Subject::Agent(None) => "子代理".into(),
        Subject::Agent(Some(name)) => format!("子代理 {name}"),
        Subject::Server(name) => format!("MCP {name}"),
        Subject::Agents(name) => format!("智能体 {name}"),
        Subject::Shell => "命令行".into(),
    }
}

/// The text.
pub(super) fn render(health: &Health) -> String {
    match health {
        Health::Here(found) => here(found),
        Health::Keep(found) => keep(found),
        Health::Reach(found) => reach(found),
        Health::Skill(found) => found.render(Language::Zh),
    }
}

/// Files, folders, the process.
fn here(health: &Here) -> String {
    match health {
        Here::Configured { file, warnings: 0 } => file.clone(),
        Here::Configured { file, warnings } => {
            format!("{file}：{warnings} 条警告，用 `weirgate check` 查看")
        }
        Here::Misconfigured { file, errors } => {
            format!("{file}：{errors} 个错误，用 `weirgate check` 查看")
        }
        Here::Folder { path } => path.display().to_string(),
        Here::NoFolder { path } => format!("{} 将在首次启动时创建", path.display()),
        Here::NoHome => {
            "没有数据目录，因此不保存文件，工具也无法联系网关：请设置 XDG_DATA_HOME 或 HOME".into()
        }
        Here::Forbidden { path, error } => format!(
            "{} 不可写（{error}）：请用 chown 把它交给当前用户，或把 storage.url（使用 PostgreSQL 时为\
             环境变量 XDG_DATA_HOME）设到别的目录",
            path.display()
        ),
        Here::Open { path, mode } => {
            format!("其他用户可以读取 {0}：chmod {mode} {0}", path.display())
        }
        Here::Runs { process, version } => {
            format!("进程 {process}，版本 {version}，正在运行并有回应")
        }
        Here::RunsOther { process, version } => format!(
            "进程 {process} 的版本是 {version}，本程序是 {}：请重启它，或用它自己的工具",
            env!("CARGO_PKG_VERSION")
        ),
        Here::Rests => "没有运行".into(),
        Here::Mute { error } => format!(
            "数据目录被占用而没有回应（{error}）：网关正在启动、停止或已卡住，请查看它的日志"
        ),
        Here::Room { free } => format!("剩余 {free} MB"),
        Here::LittleRoom { free } => {
            format!("只剩 {free} MB：请腾出空间，或缩短保留时间（storage.retention）")
        }
        Here::NoRoom { free } => format!(
            "只剩 {free} MB：很快将无法接收消息；请腾出空间，或缩短保留时间（storage.retention）"
        ),
        Here::RoomUnknown { error } => format!("无法得知剩余空间：{error}"),
        Here::Confines {
            version,
            root: false,
        } => format!("内核可以隔离它（Landlock {version}）"),
        Here::Confines { version, .. } => format!(
            "内核可以隔离它（Landlock {version}），但网关以 root 运行，其进程数不受限制：请换用单独的用户"
        ),
        Here::Unconfined(Lacks {
            version: 0,
            needs,
            linux,
        }) => format!(
            "不会运行：内核没有 Landlock 或已关闭，需要第 {needs} 版（Linux {linux}）。请更新内核，或见 tools.shell.isolation"
        ),
        Here::Unconfined(Lacks {
            version,
            needs,
            linux,
        }) => format!(
            "不会运行：内核的 Landlock 是第 {version} 版，需要第 {needs} 版（Linux {linux}）。请更新内核，或见 tools.shell.isolation"
        ),
        Here::Programs { count } => format!("可用 {count} 个"),
        Here::LeftOut { what } => format!("已略过：{what}"),
    }
}

/// The clock and the database.
fn keep(health: &Keep) -> String {
    match health {
        Keep::Clock => "一致".into(),
        Keep::ClockAstray { now } => format!("显示为 {now}：请校准，或启用时间同步"),
        Keep::ClockJumps { millis } => format!("刚刚被调整了 {millis} 毫秒：请检查时间同步"),
        Keep::ClockBehind { seconds } => {
            format!("比数据库中最新的消息落后 {seconds} 秒：请校准，或启用时间同步")
        }
        Keep::ClockDiffers { provider, seconds } => {
            let (by, how) = (seconds.abs(), if *seconds > 0 { "快" } else { "慢" });
            format!("比 {provider} 的时钟{how} {by} 秒：请启用时间同步")
        }
        Keep::Store { size } => format!("完好，{size} MB"),
        Keep::NoStore => "将在首次启动时创建".into(),
        Keep::Damaged { reason } => format!(
            "已损坏（{reason}）：请停止网关，保留该文件，再用 `weirgate restore` 恢复最近的备份"
        ),
        Keep::Server { used: true } => "服务器可以连接，正被一个网关使用".into(),
        Keep::Server { used: false } => "服务器可以连接，没有网关在使用".into(),
        Keep::StoreUnchecked => {
            "太大，未能在限定时间内查完：请检查一份备份（`weirgate backup`）".into()
        }
        Keep::StoreFailed { error } => format!("无法查看：{error}"),
    }
}

/// Addresses, accounts, providers.
fn reach(health: &Reach) -> String {
    match health {
        Reach::Found { finding, runs } => found(finding, *runs),
        Reach::Nothing => "运行之前没有可检查的".into(),
        Reach::TooLong => "没有及时回应".into(),
        Reach::Unusable { error } => error.clone(),
        Reach::Tools { tools, left_out: 0 } => format!("工具 {tools} 个"),
        Reach::Tools { tools, left_out } => {
            format!("工具 {tools} 个，略去 {left_out} 个（原因见日志）")
        }
        Reach::Agents {
            agents,
            left_out: 0,
        } => format!("智能体 {agents} 个"),
        Reach::Agents { agents, left_out } => {
            format!("智能体 {agents} 个，略去 {left_out} 个（原因见日志）")
        }
        Reach::Demo => "演示模型，不需要网络".into(),
        Reach::Answers { millis } => format!("有回答，用时 {millis} 毫秒"),
        Reach::NotAsked => "未询问（--offline）".into(),
        Reach::KeyRefused { error } => {
            format!("密钥不被接受（{error}）：请检查 api_key 及其账户")
        }
        Reach::ModelUnknown { error } => {
            format!("对方没有这个模型（{error}）：请检查模型名称和 base_url")
        }
        Reach::RateLimited { error } => {
            format!("暂时不接受请求（{error}）：请稍候，或检查账户限额")
        }
        Reach::Unreachable { error } => {
            format!("无法连接（{error}）：请检查 base_url、网络和代理")
        }
        Reach::MemoryAway { error } => format!(
            "无法提供记忆（{error}）：请检查 memory.redis 和服务器；在此之前，回答时不使用记忆"
        ),
        Reach::ProviderFailed { error } => format!("出错：{error}"),
    }
}

fn found(finding: &Finding, runs: bool) -> String {
    match finding {
        Finding::CanListen(address) => format!("{address} 可用"),
        Finding::InUse(address) if runs => format!("{address} 正由运行中的网关使用"),
        Finding::InUse(address) => {
            format!("{address} 被其他程序占用：请停止它，或改用别的地址")
        }
        Finding::CannotListen { address, error } => {
            format!("无法监听 {address}（{error}）：请选择本机的地址")
        }
        Finding::NoToken(address) => {
            format!("任何能连到 {address} 的程序都会被信任：请在两端设置 token")
        }
        Finding::Reached {
            address,
            bot,
            online: true,
        } => format!("{address} 有回应，机器人是 {bot}"),
        Finding::Reached { address, bot, .. } => {
            format!("{address} 有回应，但机器人 {bot} 没有登录：请重新登录")
        }
        Finding::TokenRefused { address } => {
            format!("{address} 不接受 token：请在两端设置相同的 token")
        }
        Finding::NotReached { address, error } => {
            format!("{address} 无法使用（{error}）：请检查地址和对方程序")
        }
        Finding::NotGranted { what, key } => {
            format!("平台没有给机器人“{what}”：请在平台上打开，或设置 {key}: false")
        }
        Finding::HearsOnlyItself => {
            "在群里只收得到提及、回复和命令；要用唤醒词，请关闭它的隐私模式".into()
        }
        Finding::PostedElsewhere(host) => {
            format!("它的事件正发往 {host}；网关运行后会接管")
        }
        Finding::NotPosted(error) => {
            format!("平台无法把事件发给网关（{error}）：请检查 http.public_url")
        }
        Finding::NoPublicUrl => "平台需要知道怎样连到网关：请设置 http.public_url".into(),
    }
}
