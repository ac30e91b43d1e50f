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
  over: (n) => `${n} characters too many`, unread: (n) => `${n} new`, thinking: "Answering", tools: (names) => `Using ${names}…`,
  empty: "How can I help?", table: "Table", gone: "not available", log: "Messages", suggestions: "Suggested questions",
  attach: "Add files", files: "Files", drop: "Drop files here", remove: (name) => `Remove ${name}`,
  retryFile: (name) => `Send ${name} again`, uploading: (name) => `Sending ${name}`, uploaded: (name) => `${name} is ready`,
  tooLarge: (name, size) => `${name} is too large: at most ${size}.`, tooMany: (n) => `At most ${n} files in one message.`,
  refusals: { network: "It could not be sent.", too_many_files: "Too many files for now. Try again later.",
    file_broken: "It is empty or broken.", bad_file: "It is not what its name says.",
    refused_file: "Files of this kind are not taken.", files_off: "No files are taken here.", unknown_visitor: "You are not signed in." },
  kinds: { image: "Picture", audio: "Sound", video: "Video", file: "File" },
  record: "Record a voice message", recording: "Recording", finish: "Use the recording", discard: "Discard the recording",
  voice: "voice-message", noVoice: "The microphone is not available.",
  choose: "Your answer", settled: "This question is closed.", picture: (host) => `Show the picture from ${host}`,
  noPicture: "The picture cannot be shown here.",
  erase: (title) => `Delete “${title}”`, sure: "Delete it for good?", yesErase: "Delete", noErase: "Keep",
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
  over: (n) => `超出 ${n} 个字符`, unread: (n) => `${n} 条新消息`, thinking: "正在回答", tools: (names) => `正在使用 ${names}…`,
  empty: "有什么可以帮你？", table: "表格", gone: "无法获取", log: "消息", suggestions: "推荐问题",
  attach: "添加文件", files: "文件", drop: "将文件拖到此处", remove: (name) => `移除 ${name}`,
  retryFile: (name) => `重新发送 ${name}`, uploading: (name) => `正在发送 ${name}`, uploaded: (name) => `${name} 已就绪`,
  tooLarge: (name, size) => `${name} 太大：最大 ${size}。`, tooMany: (n) => `一条消息最多 ${n} 个文件。`,
  refusals: { network: "未能发送。", too_many_files: "文件太多，请稍后再试。", file_broken: "文件为空或已损坏。",
    bad_file: "文件内容与名称不符。", refused_file: "不接收此类文件。", files_off: "此处不接收文件。", unknown_visitor: "您尚未登录。" },
  kinds: { image: "图片", audio: "语音", video: "视频", file: "文件" },
  record: "录制语音消息", recording: "正在录音", finish: "使用录音", discard: "放弃录音",
  voice: "语音消息", noVoice: "无法使用麦克风。",
  choose: "你的答复", settled: "此问题已关闭。", picture: (host) => `显示来自 ${host} 的图片`,
  noPicture: "此处无法显示该图片。",
  erase: (title) => `删除“${title}”`, sure: "确定永久删除？", yesErase: "删除", noErase: "保留",
};

// The words of a language tag such as zh-CN: Chinese, or English for all others.
export function wordsOf(tag) {
  return /^zh\b/i.test(tag ?? "") ? CHINESE : ENGLISH;
}
