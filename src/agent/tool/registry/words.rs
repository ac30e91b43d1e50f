//! The words of a text, by which tools are found.
//!
//! Pure. Descriptions are in English, whatever people write in: of the gateway's own tools it knows more words.

use std::collections::BTreeSet;

/// Chinese words for what the gateway's own tools are good for, by which they are found only.
pub(super) const CHINESE: [(&str, &str); 22] = [
    ("date_time", "日期 时间 几点 星期 今天 明天 时区"),
    ("calculate", "计算 算一下 加减乘除 等于 多少"),
    ("fetch_page", "网页 网址 链接 打开 页面 文章"),
    ("save_page", "保存网页 存下 页面"),
    ("web_search", "搜索 搜一下 查一下 查找 新闻 网上 最新"),
    ("weather", "天气 气温 下雨 下雪 预报 几度"),
    ("translate", "翻译 译成 英文 中文 日文"),
    ("schedule", "提醒 定时 闹钟 日程 每天 每周 待办"),
    ("ask_person", "询问 确认 选择"),
    ("memory", "记住 记忆 忘记 忘掉 记得"),
    ("context", "上下文 对话长度"),
    ("moderate", "禁言 踢出 封禁 警告 解除 管理"),
    ("delegate", "子任务 分工 交给 智能体"),
    ("read_file", "读取 文件 查看 内容"),
    ("write_file", "写入 文件 保存 新建"),
    ("edit_file", "修改 编辑 文件 替换"),
    ("list_files", "文件 列表 目录 哪些文件"),
    ("find_files", "查找 文件名 文件"),
    ("search_files", "文件 内容 搜索 查找"),
    ("send_file", "发送 文件 图片 发给我"),
    ("office_read", "文档 表格 幻灯片 读取"),
    ("office_write", "文档 表格 幻灯片 制作 生成 报告"),
];

/// What is known besides of a tool of the gateway itself; nothing of others.
pub(super) fn besides(tool: &str) -> &'static str {
    let known = CHINESE.iter().find(|(name, _)| *name == tool);
    known.map_or("", |(_, words)| words)
}

/// The words of a text in lower case; of Chinese and the like each pair of neighbours.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let mut words = BTreeSet::new();
    for word in lower.split(|sign: char| !sign.is_alphanumeric()) {
        if word.is_ascii() {
            // Of two letters are words that say nothing.
            words.extend((word.len() > 2).then(|| word.to_owned()));
        } else {
            let signs: Vec<char> = word.chars().collect();
            words.extend(signs.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    words
}
