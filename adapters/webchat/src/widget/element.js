// <weirgate-chat site="KEY">: the button and panel that `widget.js` puts on a page, or with mode="page" the whole page.
//
// It owns the panel around the messages: header, conversations, composer, state of the connection. The page's styles
// do not reach inside its shadow root, and it reads nothing of the page but its language and direction.

import { Connection } from "./connection.js";
import { icon } from "./icons.js";
import { Log } from "./log.js";
import { make } from "./markup.js";
import { Storage } from "./storage.js";
import { sheet } from "./style.js";
import { wordsOf } from "./words.js";

const BASE = new URL("../", import.meta.url);
const MOST_SUGGESTIONS = 8;
// A site is asked again after a pause that doubles, at most this long.
const LONGEST_PAUSE = 60000;

class Chat extends HTMLElement {
  static observedAttributes = ["open", "color", "identity", "heading", "greeting", "suggestions", "placeholder"];

  constructor() {
    super();
    this.root = this.attachShadow({ mode: "open" });
    this.root.adoptedStyleSheets = [sheet()];
    this.site = {};
    this.unread = 0;
    this.built = false;
  }

  // ---- for the page ------------------------------------------------------------------------------------

  open() { this.toggleAttribute("open", true); }
  close() { if (!this.isPage) this.removeAttribute("open"); }
  toggle() { if (this.hasAttribute("open")) this.close(); else this.open(); }

  // Says something in the visitor's name, as soon as there is a conversation.
  send(text) {
    const words = String(text).trim();
    if (!words) return;
    this.open();
    if (this.connection?.session) this.say(words);
    else this.unsaid = words;
  }

  // Who the visitor is, as the page's own server has signed it; null makes him a stranger again.
  identify(identity) {
    if (identity) this.setAttribute("identity", identity);
    else this.removeAttribute("identity");
  }

  // ---- the element -------------------------------------------------------------------------------------

  get isPage() { return this.getAttribute("mode") === "page"; }
  get key() { return this.getAttribute("site") ?? "default"; }

  connectedCallback() {
    if (this.built) return;
    this.built = true;
    this.language = this.getAttribute("lang") || (this.isPage ? "" : document.documentElement.lang) || navigator.language;
    this.words = wordsOf(this.language);
    this.lang = wordsOf("zh") === this.words ? "zh-CN" : "en";
    this.build();
    this.settle();
    this.begin();
    this.learn(1000);
    if (this.isPage) this.open();
    this.shown();
  }

  disconnectedCallback() {
    // Moving an element takes it out and puts it in again.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.connection?.end();
      clearTimeout(this.asking);
      this.built = false;
      this.root.replaceChildren();
    });
  }

  attributeChangedCallback(name, before, now) {
    if (!this.built || before === now) return;
    if (name === "open") this.shown();
    else if (name === "identity") this.begin();
    else this.settle();
  }

  tell(event, detail) { this.dispatchEvent(new CustomEvent(event, { detail })); }

  // What the site's settings say; the page's attributes come before them.
  async learn(pause) {
    try {
      const answer = await fetch(new URL(`api/chat/${encodeURIComponent(this.key)}`, BASE));
      if (!answer.ok) throw new Error(answer.statusText);
      this.site = await answer.json();
      this.settle();
    } catch {
      if (!this.isConnected) return;
      this.asking = setTimeout(() => this.learn(Math.min(pause * 2, LONGEST_PAUSE)), pause);
    }
  }

  // The bytes of a file of an answer.
  async load(file) {
    const address = new URL(`api/chat/${encodeURIComponent(this.key)}/files/${encodeURIComponent(file)}`, BASE);
    const headers = { authorization: `Bearer ${this.connection.identity ?? this.connection.token}`, "x-session": this.connection.session };
    const answer = await fetch(address, { headers });
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.blob();
  }

  begin() {
    this.connection?.end();
    const identity = this.getAttribute("identity");
    // Only to keep the visitors of one browser apart; the server believes the signature alone.
    const owner = identity ? `~${subject(identity)}` : "";
    this.storage = new Storage(this.key, owner);
    const address = new URL(`ws/${encodeURIComponent(this.key)}`, BASE);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    this.log.clear();
    this.connection = new Connection({
      address, identity, storage: this.storage, language: this.language,
      heard: (frame) => this.heard(frame), changed: (state) => this.state(state),
    });
    // Who was here before may get answers while the panel is closed; everybody else costs no socket before he opens it.
    if (this.hasAttribute("open") || this.isPage || this.connection.token || identity) this.connection.start();
  }

  build() {
    const { words } = this;
    const button = (className, label, name, act) => {
      const made = make("button", { type: "button", class: className, "aria-label": label, title: label }, icon(name));
      made.addEventListener("click", act);
      return made;
    };
    this.badge = make("span", { class: "badge", hidden: true });
    this.launcher = button("launcher", words.open, "chat", () => this.open());
    this.launcher.append(this.badge);
    this.launcher.setAttribute("aria-expanded", "false");
    this.heading = make("h2", { id: "heading" });
    this.status = make("span", { class: "unseen", role: "status" });
    this.barText = make("span");
    this.resume = make("button", { type: "button", hidden: true }, words.here);
    this.resume.addEventListener("click", () => this.connection.again());
    this.bar = make("div", { class: "bar", role: "status", hidden: true }, this.barText, this.resume);
    this.lists = button("tool list", words.list, "list", () => this.showList(this.drawer.hidden));
    this.closer = button("tool", words.close, "close", () => this.close());
    this.closer.hidden = this.isPage;
    const header = make("header", {}, make("span", { class: "dot" }), this.heading, this.lists,
      button("tool", words.fresh, "fresh", () => this.fresh()), this.closer);
    this.drawer = make("nav", { class: "drawer", "aria-label": words.list, hidden: true });
    this.greeting = make("p");
    this.chips = make("div", { class: "chips", role: "group", "aria-label": words.suggestions });
    this.log = new Log(words, {
      told: (text) => { this.status.textContent = text; },
      changed: () => { this.stopper.hidden = this.log.pending.size === 0; },
      load: (file) => this.load(file),
      empty: make("div", { class: "empty" }, this.greeting, this.chips),
    });
    this.downer = button("down", words.down, "down", () => this.log.toEnd());
    this.downer.hidden = true;
    const middle = make("div", { class: "middle" }, this.log.element, this.downer);
    this.panel = make("section", { class: "panel", "aria-labelledby": "heading", hidden: true },
      header, this.bar, middle, this.composer(button));
    // Beside the messages on a wide page, over them elsewhere.
    (this.isPage ? this.panel : middle).append(this.drawer);
    if (!this.isPage) this.panel.setAttribute("role", "dialog");
    this.root.append(make("div", { class: "root", dir: direction(this) }, this.panel, this.status,
      this.isPage ? "" : this.launcher));
    this.listen();
  }

  composer(button) {
    const { words } = this;
    this.input = make("textarea", { rows: "1", autocomplete: "off", enterkeyhint: "send", "aria-label": words.input,
      "aria-describedby": "hint", dir: "auto" });
    this.stopper = button("round stop", words.stop, "stop", () => this.connection.stop());
    this.stopper.hidden = true;
    this.sender = make("button", { type: "submit", class: "round", "aria-label": words.send, title: words.send,
      disabled: true }, icon("send"));
    this.form = make("form", {}, this.input, this.stopper, this.sender);
    this.alert = make("p", { class: "alert", role: "alert", hidden: true });
    this.hint = make("p", { class: "hint", id: "hint" }, words.hint);
    return make("footer", {}, this.alert, this.form, this.hint);
  }

  listen() {
    const { input, log } = this;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (!text || this.over > 0 || !this.connection.session) return;
      input.value = "";
      this.count();
      this.say(text);
      input.focus();
    });
    input.addEventListener("input", () => this.count());
    input.addEventListener("keydown", (event) => {
      // Enter also ends the choice of an input method; that one is not for us.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.stopPropagation();
      if (!this.drawer.hidden && !this.isPage) this.showList(false);
      else this.close();
    });
    log.element.addEventListener("edit", (event) => {
      input.value = event.detail;
      this.count();
      input.focus();
    });
    log.element.addEventListener("retry", (event) => this.say(event.detail));
    log.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.drawer.addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (!chosen) return;
      this.showList(false);
      if (chosen.dataset.session !== this.connection.session) this.connection.switchTo(chosen.dataset.session);
      input.focus();
    });
  }

  scrolled() {
    const { element, more, oldest, older } = this.log;
    this.downer.hidden = element.scrollHeight - element.scrollTop - element.clientHeight < 300;
    if (element.scrollTop > 80 || !more || !older.hidden || oldest === null) return;
    older.hidden = !this.connection.older(oldest);
  }

  // Texts and colours, from the attributes or the site.
  settle() {
    const text = (name) => this.getAttribute(name) ?? this.site[name];
    this.heading.textContent = text("heading") ?? this.site.title ?? "";
    if (this.isPage && this.heading.textContent) document.title = this.heading.textContent;
    this.greeting.textContent = text("greeting") || this.words.empty;
    this.input.placeholder = text("placeholder") || this.words.placeholder;
    const given = this.getAttribute("suggestions");
    const suggestions = given === null ? this.site.suggestions ?? [] : given.split("|");
    this.chips.replaceChildren(...suggestions.map((it) => it.trim()).filter(Boolean).slice(0, MOST_SUGGESTIONS).map((it) => {
      const chip = make("button", { type: "button", dir: "auto" }, it);
      chip.addEventListener("click", () => this.say(it));
      return chip;
    }));
    this.chips.hidden = this.chips.childElementCount === 0;
    this.paint(text("color"));
    this.count();
  }

  // The one colour that a site chooses; what stands on it is black or white, whatever can be read better.
  paint(color) {
    const root = this.root.querySelector(".root");
    root.style.removeProperty("--fill");
    root.style.removeProperty("--on-fill");
    if (!color || !CSS.supports("color", color)) return;
    this.launcher.style.color = color;
    const [red, green, blue] = getComputedStyle(this.launcher).color.match(/[\d.]+/g)?.map(Number) ?? [];
    this.launcher.style.color = "";
    if (blue === undefined) return;
    const [r, g, b] = [red, green, blue].map((c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    const light = .2126 * r + .7152 * g + .0722 * b;
    root.style.setProperty("--fill", color);
    root.style.setProperty("--on-fill", light > .179 ? "#000" : "#fff");
  }

  // ---- what happens ------------------------------------------------------------------------------------

  shown() {
    const open = this.hasAttribute("open");
    if (open === !this.panel.hidden) return;
    this.panel.hidden = !open;
    this.launcher.hidden = open;
    this.launcher.setAttribute("aria-expanded", String(open));
    if (open) {
      this.connection.start();
      this.unseen(0);
      this.log.toEnd();
      this.input.focus({ preventScroll: true });
    } else {
      this.launcher.focus({ preventScroll: true });
    }
    this.tell(open ? "open" : "close");
  }

  unseen(count) {
    this.unread = count;
    this.badge.hidden = count === 0;
    this.badge.textContent = count > 99 ? "99+" : String(count);
    const label = count ? `${this.words.open} (${this.words.unread(count)})` : this.words.open;
    this.launcher.setAttribute("aria-label", label);
    this.tell("unread", count);
  }

  state(state) {
    const bad = state === "offline" || state === "closed" || state === "refused";
    this.panel.dataset.state = state;
    this.bar.hidden = !bad;
    this.bar.classList.toggle("bad", bad);
    if (bad) this.barText.textContent = this.words[state];
    this.resume.hidden = state !== "closed";
    if (state === "offline") this.mark(this.words.queued);
    this.count();
    this.tell("state", state);
  }

  // Every message that the server does not have yet is shown, with what it waits for.
  mark(note) {
    for (const item of this.storage.unsent(this.connection.session)) this.log.waiting(item.messageId, item.text, note);
  }

  heard(frame) {
    if (frame.type === "text" && frame.final) this.answered(frame);
    if (frame.elsewhere) return;
    if (frame.type === "welcome") this.welcome(frame);
    else if (frame.type === "sessions") this.list(frame.sessions);
    else if (frame.type === "error" && !this.log.own.has(frame.messageId)) this.warn(frame.text);
    else this.log.take(frame);
    if (frame.type === "history" && frame.replace) this.ready();
  }

  welcome(frame) {
    if (frame.sessionId !== this.session) this.log.clear();
    this.session = frame.sessionId;
    this.site.maxMessage = frame.maxMessage;
    this.count();
    if (frame.resumed) this.ready();
    if (this.isPage || !this.drawer.hidden) this.connection.sessions();
  }

  ready() {
    this.mark(this.words.sending);
    const unsaid = this.unsaid;
    this.unsaid = null;
    if (unsaid) this.say(unsaid);
  }

  answered(frame) {
    if (this.panel.hidden || document.hidden) this.unseen(this.unread + 1);
    this.tell("message", { role: "bot", text: frame.text });
    if (this.isPage && this.untitled) this.connection.sessions();
  }

  say(text) {
    if (!this.connection.session) { this.unsaid = text; return; }
    this.warn("");
    const { item, left } = this.connection.say(text);
    this.log.waiting(item.messageId, text, left ? this.words.sending : this.words.queued);
    this.tell("message", { role: "user", text });
  }

  warn(text) {
    this.alert.textContent = text;
    this.alert.hidden = !text;
  }

  fresh() {
    this.showList(false);
    if (this.log.list.childElementCount > 0) this.connection.startNew();
    this.input.focus();
  }

  showList(show) {
    this.drawer.hidden = !show;
    this.lists.setAttribute("aria-expanded", String(show));
    if (!show) return;
    this.connection.sessions();
    this.drawer.tabIndex = -1;
    this.drawer.focus();
  }

  list(sessions) {
    const current = this.connection.session;
    const known = sessions.some((it) => it.sessionId === current);
    const all = known ? sessions : [{ sessionId: current, title: "" }, ...sessions];
    this.untitled = !known;
    const date = new Intl.DateTimeFormat(this.lang, { dateStyle: "medium", timeStyle: "short" });
    this.drawer.replaceChildren(make("h3", {}, this.words.list), ...all.map((it) => make("button", {
      type: "button", "data-session": it.sessionId, "aria-current": it.sessionId === current ? "true" : null, dir: "auto",
    }, it.title || this.words.untitled, it.at ? make("time", {}, date.format(it.at)) : "")));
  }

  get over() { return [...this.input.value].length - (this.site.maxMessage ?? 8000); }

  count() {
    const { input, over } = this;
    const hint = over > 0 ? this.words.over(over) : this.words.hint;
    if (this.hint.textContent !== hint) this.hint.textContent = hint;
    this.hint.classList.toggle("over", over > 0);
    this.sender.disabled = over > 0 || !input.value.trim() || !this.connection?.session;
    input.style.height = "auto";
    if (input.value) input.style.height = `${input.scrollHeight}px`;
  }
}

// The person that a signed identity names, or nothing; never trusted.
function subject(identity) {
  try {
    const part = identity.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    return String(JSON.parse(atob(part)).sub);
  } catch { return ""; }
}

function direction(element) {
  return getComputedStyle(element.parentElement ?? document.documentElement).direction;
}

if (!customElements.get("weirgate-chat")) customElements.define("weirgate-chat", Chat);
