//! Simplified Chinese.

use super::{Console, Heading};
use crate::{
    i18n::rough,
    operate::ask::{Answer, Refusal},
    store::audit::{Fault, Verdict},
};

/// The text.
pub(super) fn render(text: &Console<'_>) -> String {
    match text {
        Console::Head(heading) => head(*heading).to_owned(),
        Console::Age(age) => rough(*age, ["天", "小时", "分", "秒"]),
        Console::Nothing => "没有内容".into(),
        Console::More { after } => format!("可能还有更多：--after {after}"),
        Console::BadId { text } => {
            format!("{text:?} 不是编号：请照列表书写，回复是 r 加数字，消息是 m 加数字")
        }
        Console::Done { id, answer } => format!("{id}：{}", done(answer)),
        Console::Refused { id: "", refusal } => refused(refusal),
        Console::Refused { id, refusal } => format!("{id}：{}", refused(refusal)),
        Console::NoDatabase { path } => format!(
            "{} 处没有数据库：请先启动一次网关，或用 --config 指明它的配置文件",
            path.display()
        ),
        Console::OnServer => {
            "数据库在 PostgreSQL 服务器上：请用 pg_dump 备份，用 pg_restore 恢复".to_owned()
        }
        Console::SocketForbidden { folder } => {
            format!(
                "{} 上的网关属于另一个用户：请以该用户运行",
                folder.display()
            )
        }
        Console::SocketFailed { error } => format!("正在运行的网关没有回应：{error}"),
        Console::NoAnswer => "  网关正在启动或停止，或是较旧的版本：请稍后再试".into(),
        Console::BackedUp { path, bytes } => format!("{}（{bytes} 字节）", path.display()),
        Console::CopyFailed { error } => (*error).to_owned(),
        Console::Restored { path, kept } => {
            let kept = kept.map_or_else(String::new, |kept| {
                format!("，原来的保存为 {}", kept.display())
            });
            format!(
                "已恢复 {}{kept}。其中等待的消息会在下次启动后得到回答；备份之后已经回答过的会再回答一次。",
                path.display()
            )
        }
        Console::AuditWhole(Verdict { records, head, .. }) => format!(
            "共 {records} 条记录，完整且有序。最新一条是 {}：{}",
            head.seq, head.hash
        ),
        Console::AuditFault(fault) => audit_fault(*fault),
        Console::AuditBroken { records } => {
            format!("审计日志与网关写入的不一致（共 {records} 条）")
        }
        Console::NoSuchMove => {
            "只能从 SQLite 迁移到 PostgreSQL：--from sqlite:///path/to/weirgate.db --to \
             postgres://user@host/name"
                .to_owned()
        }
        Console::MovedTable { table, rows } => format!("{table:<14}{rows:>12}"),
        Console::MovedReplaced { texts } => {
            format!("{texts} 段文本含有 PostgreSQL 无法保存的 NUL 字符，已替换为 U+FFFD")
        }
        Console::MoveRehearsed { rows } => {
            format!("{rows} 行已写入、核对数目并撤回：这只是演练")
        }
        Console::Moved { rows, from } => format!(
            "{rows} 行已迁移并核对数目。请把 storage.url 改为新地址后启动网关。{} 保持原样：请留作备份，\
             不要再在它上面运行网关，否则其中等待的消息会再回答一次。",
            from.display()
        ),
    }
}

fn audit_fault(fault: Fault) -> String {
    match fault {
        Fault::Changed { seq } => format!("第 {seq} 条：它或它的前一条被改动"),
        Fault::PersonalChanged { seq } => format!("第 {seq} 条：操作者、对象或详情被改动"),
        Fault::Gap { expected, found } => {
            format!("应为第 {expected} 条的位置是第 {found} 条：有记录缺失、移动或增加")
        }
        Fault::StartCut { found } => {
            format!("日志从第 {found} 条开始，而之前的记录并非因到期被删除")
        }
        Fault::EndCut { expected, found } => {
            format!("日志到第 {found} 条为止，而最后写入的是第 {expected} 条")
        }
        Fault::Erased { seq } => {
            format!("第 {seq} 条：操作者、对象和详情被删除，却没有相应的记录")
        }
        Fault::HeadMissing => "没有哪条记录的哈希与 --head 一致".into(),
    }
}

fn head(heading: Heading) -> &'static str {
    match heading {
        Heading::Id => "编号",
        Heading::State => "状态",
        Heading::Age => "时间",
        Heading::Conversation => "会话",
        Heading::From => "来自",
        Heading::Lane => "通道",
        Heading::Attempts => "次数",
        Heading::Part => "分段",
        Heading::Reason => "原因",
        Heading::Text => "内容",
    }
}

fn done(answer: &Answer) -> String {
    match answer {
        Answer::Ready { now: true } => "正在发送".into(),
        Answer::Ready { now: false } => "将在下次启动后发送".into(),
        Answer::Accepted { ids, now } => {
            let ids: Vec<String> = ids.iter().map(|id| format!("m{id}")).collect();
            let when = if *now {
                "已重新排队"
            } else {
                "将在下次启动后回答"
            };
            format!("{when}，新编号 {}", ids.join("、"))
        }
        Answer::Dropped => "已放弃".into(),
        Answer::Hello { .. }
        | Answer::Audit { .. }
        | Answer::Waiting(_)
        | Answer::Replies(_)
        | Answer::Failed(_)
        | Answer::Settings { .. }
        | Answer::SettingsThere(_) => "完成".into(),
    }
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotFound => "没有这一项".into(),
        Refusal::State { state } => format!("无事可做：它的状态是 {state}"),
        Refusal::Sending => "它正在发送中".into(),
        Refusal::Elsewhere => "它属于这个数据库上的另一个网关，请在那里操作".into(),
        Refusal::Full => "这个会话等待发送的回复太多：请等一些发出后再试".into(),
        Refusal::Store { error } => format!("数据库出错：{error}"),
        Refusal::Protocol { error } => format!("网关无法理解：{error}"),
    }
}
