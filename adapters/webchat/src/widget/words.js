// What the element says by itself, in both languages. What the gateway says comes from the gateway.

const ENGLISH = {
  open: "Open chat", close: "Close chat", connecting: "Connecting…", online: "Connected",
  offline: "No connection. Trying again…", closed: "This chat is open in too many windows.",
  refused: "You are not signed in for this chat.",
  here: "Continue here", fresh: "New conversation", list: "Conversations", untitled: "New conversation",
  placeholder: "Write a message…", input: "Message", send: "Send", stop: "Stop answering",
  hint: "Enter to send, Shift+Enter for a new line", older: "Loading earlier messages…",
  copy: "Copy", copied: "Copied", edit: "Edit and send again", retry: "Ask again", sending: "Sending…",
  queued: "Waiting for the connection…", again: "It is sent again later.", down: "To the newest message",
  over: (n) => `${n} characters too many`, unread: (n) => `${n} new`, thinking: "Answering",
  empty: "How can I help?", table: "Table", gone: "not available",
  none: "No conversations yet", you: "You", log: "Messages", suggestions: "Suggested questions",
};

const CHINESE = {
  open: "打开聊天", close: "关闭聊天", connecting: "连接中…", online: "已连接",
  offline: "连接已断开，正在重试…", closed: "此聊天在太多窗口中打开。",
  refused: "您尚未登录此聊天。",
  here: "在此继续", fresh: "新对话", list: "对话列表", untitled: "新对话",
  placeholder: "输入消息…", input: "消息", send: "发送", stop: "停止回答",
  hint: "Enter 发送，Shift+Enter 换行", older: "正在加载更早的消息…",
  copy: "复制", copied: "已复制", edit: "编辑后重新发送", retry: "重新提问", sending: "发送中…",
  queued: "等待连接…", again: "稍后自动重发。", down: "回到最新消息",
  over: (n) => `超出 ${n} 个字符`, unread: (n) => `${n} 条新消息`, thinking: "正在回答",
  empty: "有什么可以帮你？", table: "表格", gone: "无法获取",
  none: "还没有对话", you: "你", log: "消息", suggestions: "推荐问题",
};

// The words of a language tag such as zh-CN: Chinese, or English for all others.
export function wordsOf(tag) {
  return /^zh\b/i.test(tag ?? "") ? CHINESE : ENGLISH;
}
