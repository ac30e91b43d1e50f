// The chat page. It shows what the server says and keeps what the visitor wrote until the server has it.
// Everything is built with textContent, except the server's own HTML, which is sanitised there.

const chinese = (navigator.language || "").toLowerCase().startsWith("zh");
const words = chinese
  ? {
      connecting: "连接中…", online: "已连接", offline: "已断开，正在重连…", closed: "已在别处打开",
      fresh: "新对话", here: "在此继续", placeholder: "输入消息…", send: "发送", stop: "停止回答",
      hint: "Enter 发送，Shift+Enter 换行", empty: "有什么可以帮你？", older: "正在加载更早的消息…",
      copy: "复制", copied: "已复制", sending: "发送中…", queued: "等待连接…", down: "回到最新",
      again: "稍后自动重试。", over: (n) => `超出 ${n} 个字符`, input: "消息", thinking: "正在回答",
    }
  : {
      connecting: "Connecting…", online: "Connected", offline: "Disconnected, reconnecting…",
      closed: "Open elsewhere", fresh: "New chat", here: "Continue here", placeholder: "Write a message…",
      send: "Send", stop: "Stop answering", hint: "Enter to send, Shift+Enter for a new line",
      empty: "How can I help?", older: "Loading earlier messages…", copy: "Copy", copied: "Copied",
      sending: "Sending…", queued: "Waiting for the connection…", down: "To the newest",
      again: "It is sent again later.", over: (n) => `${n} characters too many`, input: "Message",
      thinking: "Answering",
    };

const $ = (id) => document.getElementById(id);
const [log, scroll, input, form] = [$("log"), $("scroll"), $("input"), $("form")];

// ---- what outlives the page ------------------------------------------------------------------------

const store = {
  read(key, fallback) {
    try { return JSON.parse(localStorage.getItem(`chat.${key}`)) ?? fallback; } catch { return fallback; }
  },
  write(key, value) {
    // Without storage (private windows, a full disk) the page works on, as a new visitor each time.
    try { localStorage.setItem(`chat.${key}`, JSON.stringify(value)); } catch { /* see above */ }
  },
};

// Messages that the server has not acknowledged. Other windows may send them too: the server knows them
// by messageId and takes each once. The storage is shared with those windows, so it is changed item by item.
const memory = new Map(store.read("unsent", []).map((item) => [item.messageId, item]));
const unsent = {
  add(item) {
    memory.set(item.messageId, item);
    store.write("unsent", [...store.read("unsent", []), item].slice(-100));
  },
  remove(messageId) {
    if (!memory.delete(messageId)) return;
    store.write("unsent", store.read("unsent", []).filter((item) => item.messageId !== messageId));
  },
  of: (session) => [...memory.values()].filter((item) => item.session === session),
};

// ---- the conversation ------------------------------------------------------------------------------

let token = store.read("token", null);
let session = null;
let epoch = null;
let seq = 0;
let maxMessage = 8000;
let oldest = null;
let more = false;
let loading = false;
const pending = new Set();
const own = new Map();      // messageId -> element
const shown = new Set();    // "id.part" of answers, and ids of answers from the history
const done = new Set();     // turns that have their final text
const drafts = new Map();   // turn -> { element, attempt, answers }

function atEnd() { return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80; }

function keepEnd(change, force = false) {
  const stick = force || atEnd();
  change();
  if (stick) scroll.scrollTop = scroll.scrollHeight;
  $("empty").hidden = log.childElementCount > 0 || !session;
}

// Earlier messages are there to be found, not to be read out: a screen reader is to hear new ones only.
let loud = null;
function quietly(change) {
  log.setAttribute("aria-live", "off");
  change();
  clearTimeout(loud);
  // It looks at a change a moment after it.
  loud = setTimeout(() => log.setAttribute("aria-live", "polite"), 1000);
}

function messageElement(role, html) {
  const element = document.createElement("article");
  element.className = `message ${role}`;
  const bubble = document.createElement("div");
  bubble.className = "bubble";
  setHtml(bubble, html);
  element.append(bubble);
  return element;
}

function setHtml(target, html) {
  target.innerHTML = html;
  for (const pre of target.querySelectorAll("pre")) {
    const box = document.createElement("div");
    box.className = "code";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words.copy;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = words.copied;
        setTimeout(() => { button.textContent = words.copy; }, 1500);
      } catch { getSelection().selectAllChildren(pre); }
    });
    pre.replaceWith(box);
    box.append(pre, button);
  }
}

function note(element, text, failed = false) {
  element.querySelector(".note")?.remove();
  element.classList.toggle("failed", failed);
  if (!text) return;
  const line = document.createElement("p");
  line.className = "note";
  line.textContent = text;
  element.append(line);
}

function showOwn(messageId, html, text) {
  let element = own.get(messageId);
  if (element) return element;
  element = messageElement("user", html ?? "");
  if (html === undefined) {
    const paragraph = document.createElement("p");
    paragraph.textContent = text;
    element.firstChild.replaceChildren(paragraph);
  }
  own.set(messageId, element);
  keepEnd(() => log.append(element), html === undefined);
  return element;
}

function arrived(messageId) {
  unsent.remove(messageId);
  const element = own.get(messageId);
  if (element?.classList.contains("waiting")) {
    element.classList.remove("waiting");
    note(element, "");
  }
}

function busy() {
  $("stop").hidden = pending.size === 0;
  const waits = pending.size > 0 && drafts.size === 0;
  if ($("thinking").hidden !== waits) return;
  keepEnd(() => {
    $("thinking").hidden = !waits;
    $("thinking-text").textContent = waits ? words.thinking : "";
  });
}

function clearView() {
  log.replaceChildren();
  for (const list of [pending, own, shown, done, drafts]) list.clear();
  oldest = null;
  more = false;
}

// ---- frames ----------------------------------------------------------------------------------------

const handlers = {
  welcome(frame) {
    if (frame.token) { token = frame.token; store.write("token", token); }
    if (frame.sessionId !== session) clearView();
    session = frame.sessionId;
    // Until the snapshot is in there is no place in this conversation to go on from.
    epoch = frame.resumed ? frame.epoch : null;
    maxMessage = frame.maxMessage ?? maxMessage;
    if (frame.title) { $("title").textContent = frame.title; document.title = frame.title; }
    clearTimeout(steady);
    steady = setTimeout(() => { failures = 0; }, 10000);
    state("online");
    if (frame.resumed) resend();
    count();
  },

  history(frame) {
    loaded();
    const frames = document.createDocumentFragment();
    if (frame.replace) {
      ({ epoch, seq } = frame);
      clearView();
      for (const item of frame.messages) frames.append(...past(item));
      quietly(() => keepEnd(() => log.append(frames), true));
      resend();
    } else {
      const height = scroll.scrollHeight;
      for (const item of frame.messages) frames.append(...past(item));
      quietly(() => log.prepend(frames));
      scroll.scrollTop += scroll.scrollHeight - height;
    }
    oldest = frame.messages[0]?.id ?? oldest;
    more = frame.more && frame.messages.length > 0;
    busy();
  },

  // Whether an answer is still to come says `user`: this frame may be slower than the answer.
  ack(frame) { arrived(frame.messageId); },

  user(frame) {
    const element = showOwn(frame.messageId, frame.html);
    setHtml(element.firstChild, frame.html);
    arrived(frame.messageId);
    pending.add(frame.messageId);
    busy();
  },

  text(frame) { if (frame.final) answer(frame); else draft(frame); },

  end(frame) {
    if (frame.messageId) { arrived(frame.messageId); pending.delete(frame.messageId); }
    busy();
  },

  error(frame) {
    if (frame.code === "history_unavailable") loaded();
    const element = own.get(frame.messageId);
    if (!frame.messageId || !element) { notice(frame.text); return; }
    const again = isLater(frame.code);
    note(element, again ? `${frame.text} ${words.again}` : frame.text, true);
    if (again) {
      resendLater();
    } else {
      element.classList.remove("waiting");
      unsent.remove(frame.messageId);
      pending.delete(frame.messageId);
    }
    busy();
  },

  pong() {},
};

function isLater(code) { return code === "store_unavailable" || code === "stopping"; }

// A frame of a conversation that this page left: only what became of an unsent message matters.
function elsewhere(frame) {
  const over = frame.type === "ack" || frame.type === "user" || frame.type === "error";
  if (!over || !frame.messageId) return;
  if (isLater(frame.code)) resendLater();
  else unsent.remove(frame.messageId);
}

function past(item) {
  if (item.role === "user") {
    if (own.has(item.messageId)) return [];
    const element = messageElement("user", item.html);
    own.set(item.messageId, element);
    unsent.remove(item.messageId);
    if (item.pending) pending.add(item.messageId);
    return [element];
  }
  if (shown.has(item.id) || shown.has(`${item.id}.0`)) return [];
  shown.add(item.id);
  if (item.turn) done.add(item.turn);
  return [messageElement("assistant", item.html)];
}

function answer(frame) {
  const key = `${frame.id}.${frame.part}`;
  if (shown.has(frame.id) || shown.has(key)) return;
  shown.add(key);
  if (frame.turn) done.add(frame.turn);
  frame.answers.forEach(arrived);
  const element = messageElement("assistant", frame.html);
  keepEnd(() => {
    let place = null;
    for (const [turn, item] of drafts) {
      if (turn === frame.turn || item.answers.some((id) => frame.answers.includes(id))) {
        place ??= item.element;
        if (place !== item.element) item.element.remove();
        drafts.delete(turn);
      }
    }
    if (place) place.replaceWith(element);
    else log.append(element);
  });
  busy();
}

function draft(frame) {
  if (done.has(frame.turn)) return;
  frame.answers.forEach(arrived);
  keepEnd(() => {
    let item = drafts.get(frame.turn);
    if (!item) {
      item = { element: messageElement("assistant draft", ""), attempt: 0, answers: frame.answers };
      item.element.setAttribute("aria-busy", "true");
      drafts.set(frame.turn, item);
      log.append(item.element);
    }
    if (frame.attempt < item.attempt) return;
    const bubble = item.element.firstChild;
    if (frame.replace || frame.attempt > item.attempt) bubble.replaceChildren();
    item.attempt = frame.attempt;
    while (bubble.childElementCount > frame.block) bubble.lastElementChild.remove();
    const block = document.createElement("div");
    block.className = "block";
    setHtml(block, frame.html);
    bubble.append(block);
  });
  busy();
}

// ---- the connection --------------------------------------------------------------------------------

let socket = null;
let failures = 0;
let retry = null;
let [silence, steady, later] = [null, null, null];
let paused = false;

function state(name) {
  $("status").dataset.state = name;
  $("status-text").textContent = words[name];
  $("resume").hidden = name !== "closed";
}

function connect() {
  clearTimeout(retry);
  retry = null;
  if (socket || paused) return;
  state("connecting");
  const address = new URL("chat", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = address.hash = "";
  const mine = new WebSocket(address);
  socket = mine;
  mine.addEventListener("open", () => { hello(session, true); });
  mine.addEventListener("message", (event) => {
    if (mine !== socket) return;
    clearTimeout(silence);
    let frame;
    try { frame = JSON.parse(event.data); } catch { return; }
    if (frame.sessionId && frame.type !== "welcome" && session && frame.sessionId !== session) {
      elsewhere(frame);
      return;
    }
    if (frame.type !== "welcome" && frame.epoch === epoch && frame.seq > seq) seq = frame.seq;
    handlers[frame.type]?.(frame);
  });
  mine.addEventListener("close", (event) => {
    if (mine !== socket) return;
    lost(event.code);
  });
}

function lost(code) {
  for (const timer of [silence, steady, later]) clearTimeout(timer);
  socket = later = null;
  loaded();
  for (const item of unsent.of(session)) {
    const element = own.get(item.messageId);
    if (element) note(element, words.queued);
  }
  if (code === 4001) { paused = true; state("closed"); return; }
  state("offline");
  // Full jitter, so that a thousand pages do not come back in one moment.
  const most = Math.min(30000, 500 * 2 ** failures++);
  retry = setTimeout(connect, 100 + Math.random() * most);
}

function transmit(frame) {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(frame));
  return true;
}

// A page that still shows the conversation asks for what it missed; a new one for all of it.
function hello(wanted, resume) {
  const frame = { type: "hello", language: navigator.language };
  if (token) frame.token = token;
  if (wanted) frame.sessionId = wanted;
  if (resume && wanted && epoch) frame.resume = { epoch, seq };
  transmit(frame);
}

function probe(wait) {
  if (!transmit({ type: "ping" })) return;
  clearTimeout(silence);
  silence = setTimeout(() => {
    const dead = socket;
    lost(0);
    dead?.close();
  }, wait);
}

function resendLater() { later ??= setTimeout(resend, 5000 + Math.random() * 10000); }

function resend() {
  clearTimeout(later);
  later = null;
  if (!session || socket?.readyState !== WebSocket.OPEN) return;
  for (const item of memory.values()) {
    if (item.session === session) {
      const element = showOwn(item.messageId, undefined, item.text);
      element.classList.add("waiting");
      note(element, words.sending);
    }
    say(item);
  }
}

function say(item) {
  const { messageId, session: sessionId, text } = item;
  return transmit({ type: "text", sessionId, messageId, content: { text } });
}

function wake() {
  if (socket?.readyState === WebSocket.OPEN) probe(5000);
  else if (!socket) { failures = 0; connect(); }
}

setInterval(() => { if (!document.hidden) probe(10000); }, 25000);
addEventListener("online", wake);
addEventListener("pageshow", wake);
document.addEventListener("visibilitychange", () => { if (!document.hidden) wake(); });

// ---- the visitor -----------------------------------------------------------------------------------

function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
}

function notice(text) {
  $("notice").textContent = text;
  $("notice").hidden = !text;
}

function count() {
  const over = [...input.value].length - maxMessage;
  const hint = over > 0 ? words.over(over) : words.hint;
  if ($("hint").textContent !== hint) $("hint").textContent = hint;
  $("hint").classList.toggle("over", over > 0);
  $("send").disabled = over > 0 || !input.value.trim() || !session;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = input.value.trim();
  if (!text || !session || [...text].length > maxMessage) return;
  notice("");
  const item = { messageId: randomId(), session, text };
  unsent.add(item);
  const element = showOwn(item.messageId, undefined, text);
  element.classList.add("waiting");
  note(element, say(item) ? words.sending : words.queued);
  input.value = "";
  count();
  input.focus();
});

input.addEventListener("input", count);
input.addEventListener("keydown", (event) => {
  // Enter also ends the choice of an input method; that one is not for us.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  form.requestSubmit();
});

$("stop").addEventListener("click", () => transmit({ type: "stop", sessionId: session }));
$("new").addEventListener("click", () => {
  if (socket?.readyState !== WebSocket.OPEN) return;
  hello(`c-${randomId()}`, false);
  input.focus();
});
$("resume").addEventListener("click", () => { paused = false; failures = 0; connect(); });
$("down").addEventListener("click", () => { scroll.scrollTop = scroll.scrollHeight; });

// The page of earlier messages came, or will not come.
function loaded() { loading = false; $("older").hidden = true; }

scroll.addEventListener("scroll", () => {
  $("down").hidden = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 400;
  if (scroll.scrollTop > 80 || !more || loading || oldest === null) return;
  loading = transmit({ type: "history", sessionId: session, before: oldest });
  $("older").hidden = !loading;
}, { passive: true });

document.documentElement.lang = chinese ? "zh-CN" : "en";
input.placeholder = words.placeholder;
input.setAttribute("aria-label", words.input);
$("empty").textContent = words.empty;
$("older").textContent = words.older;
$("new").textContent = words.fresh;
$("resume").textContent = words.here;
for (const [id, text] of [["send", words.send], ["stop", words.stop], ["down", words.down]]) {
  $(id).setAttribute("aria-label", text);
  $(id).title = text;
}
count();
connect();
