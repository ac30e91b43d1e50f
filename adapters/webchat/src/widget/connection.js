// One socket to the gateway: hello, resume, sending again, signs of life. It knows no element of the page: frames of
// the shown conversation go to `heard`, changes of the connection to `changed`.

import { randomId } from "./storage.js";

const PING_EVERY = 25000;
const PONG_WITHIN = 10000;
const LONGEST_PAUSE = 30000;
// The server's close codes after which coming back by oneself would only do harm.
const TOO_MANY = 4001;
const NOT_SIGNED_IN = 4003;

export class Connection {
  constructor({ address, storage, language, identity, heard, changed }) {
    Object.assign(this, { address, storage, language, identity, heard, changed });
    this.token = storage.read("token", null);
    this.session = null;
    this.epoch = null;
    this.seq = 0;
    this.state = "idle";
    this.socket = null;
    this.failures = 0;
    this.timers = {};
    this.wake = this.wake.bind(this);
    this.seen = () => { if (!document.hidden) this.wake(); };
  }

  get open() { return this.socket?.readyState === WebSocket.OPEN; }

  start() {
    if (this.state !== "idle") return;
    addEventListener("online", this.wake);
    addEventListener("pageshow", this.wake);
    document.addEventListener("visibilitychange", this.seen);
    this.timers.ping = setInterval(() => { if (!document.hidden) this.probe(PONG_WITHIN); }, PING_EVERY);
    this.connect();
  }

  // Ends everything; the object is not used again.
  end() {
    removeEventListener("online", this.wake);
    removeEventListener("pageshow", this.wake);
    document.removeEventListener("visibilitychange", this.seen);
    clearInterval(this.timers.ping);
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    const socket = this.socket;
    this.socket = null;
    this.paused = true;
    socket?.close();
  }

  be(state) {
    this.state = state;
    this.changed(state);
  }

  connect() {
    clearTimeout(this.timers.retry);
    if (this.socket || this.paused) return;
    this.be("connecting");
    const mine = new WebSocket(this.address);
    this.socket = mine;
    mine.addEventListener("open", () => this.hello(this.session, true));
    mine.addEventListener("message", (event) => { if (mine === this.socket) this.take(event.data); });
    mine.addEventListener("close", (event) => { if (mine === this.socket) this.lost(event.code); });
  }

  // Comes back after the visitor asked for it.
  again() {
    this.paused = false;
    this.failures = 0;
    this.connect();
  }

  take(data) {
    clearTimeout(this.timers.silence);
    let frame;
    try { frame = JSON.parse(data); } catch { return; }
    if (frame.type === "welcome") this.welcome(frame);
    else if (frame.sessionId && this.session && frame.sessionId !== this.session) return this.elsewhere(frame);
    else if (frame.type === "history" && frame.replace) ({ epoch: this.epoch, seq: this.seq } = frame);
    else if (frame.epoch === this.epoch && frame.seq > this.seq) this.seq = frame.seq;
    this.settle(frame);
    this.heard(frame);
    if (frame.type === "history" && frame.replace || frame.type === "welcome" && frame.resumed) this.resend();
  }

  welcome(frame) {
    if (frame.token) {
      this.token = frame.token;
      this.storage.write("token", frame.token);
    }
    this.session = frame.sessionId;
    // Until the snapshot is in there is no place in this conversation to go on from.
    this.epoch = frame.resumed ? frame.epoch : null;
    clearTimeout(this.timers.steady);
    this.timers.steady = setTimeout(() => { this.failures = 0; }, 10000);
    this.be("online");
  }

  // What a frame says of messages that were kept: the server has them now, or does not want them.
  settle(frame) {
    if (frame.type === "error") {
      if (frame.code === "store_unavailable" || frame.code === "stopping") this.resendLater();
      else if (frame.messageId) this.storage.drop(frame.messageId);
    } else if (frame.type === "history") {
      for (const item of frame.messages) if (item.messageId) this.storage.drop(item.messageId);
    } else {
      for (const id of [frame.messageId, ...(frame.answers ?? [])]) if (id) this.storage.drop(id);
    }
  }

  // A frame of a conversation that is not shown: what matters is what became of a kept message, and of the conversation.
  elsewhere(frame) {
    this.settle(frame);
    if (frame.type === "session" || frame.type === "text" && frame.final) this.heard({ ...frame, elsewhere: true });
  }

  lost(code) {
    for (const name of ["silence", "steady", "later"]) clearTimeout(this.timers[name]);
    this.timers.later = null;
    this.socket = null;
    if (code === TOO_MANY || code === NOT_SIGNED_IN) {
      this.paused = true;
      this.be(code === TOO_MANY ? "closed" : "refused");
      return;
    }
    this.be("offline");
    // Full jitter, so that a thousand pages do not come back in one moment.
    const most = Math.min(LONGEST_PAUSE, 500 * 2 ** this.failures++);
    this.timers.retry = setTimeout(() => this.connect(), 100 + Math.random() * most);
  }

  transmit(frame) {
    if (!this.open) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  // Who still shows the conversation asks for what he missed; everybody else for all of it.
  hello(session, resume) {
    const frame = { type: "hello", language: this.language };
    if (this.identity) frame.identity = this.identity;
    else if (this.token) frame.token = this.token;
    if (session) frame.sessionId = session;
    if (resume && session && this.epoch) frame.resume = { epoch: this.epoch, seq: this.seq };
    return this.transmit(frame);
  }

  probe(wait) {
    if (!this.transmit({ type: "ping" })) return;
    clearTimeout(this.timers.silence);
    this.timers.silence = setTimeout(() => {
      const dead = this.socket;
      this.lost(0);
      dead?.close();
    }, wait);
  }

  wake() {
    if (this.open) this.probe(PONG_WITHIN / 2);
    else if (!this.socket && !this.paused) { this.failures = 0; this.connect(); }
  }

  resendLater() { this.timers.later ??= setTimeout(() => this.resend(), 5000 + Math.random() * 10000); }

  resend() {
    clearTimeout(this.timers.later);
    this.timers.later = null;
    if (!this.session || !this.open) return;
    for (const item of this.storage.memory.values()) this.deliver(item);
  }

  deliver({ messageId, session, text, files, press }) {
    const body = press ? { type: "press", ...press } : { type: "text", content: { text }, files };
    return this.transmit({ sessionId: session, messageId, ...body });
  }

  // Keeps something that the visitor says until the server has it, and sends it. Gives it with its id, and whether it
  // could leave now.
  say(said) {
    const item = { messageId: randomId(), session: this.session, ...said };
    this.storage.keep(item);
    return { item, left: this.deliver(item) };
  }

  // What shows the gateway who asks, also outside of the socket.
  get credential() { return this.identity ?? this.token; }

  switchTo(session) { return this.hello(session, false); }
  startNew() { return this.hello(`c-${randomId()}`, false); }
  // Deletes a conversation for good.
  erase(session) { return this.transmit({ type: "session", sessionId: session, content: { act: "delete" } }); }
  stop() { return this.transmit({ type: "stop", sessionId: this.session }); }
  older(before) { return this.transmit({ type: "history", sessionId: this.session, before }); }
  sessions() { return this.transmit({ type: "sessions" }); }
}
