// <weirgate-chat site="KEY">: the button and panel that `widget.js` puts on a page, or with mode="page" the whole page.
//
// It owns the panel around the messages: header, conversations, state of the connection. The page's styles do not reach
// inside its shadow root, and it reads nothing of the page but its language and direction.

import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { Drawer } from "./drawer.js";
import { icon } from "./icons.js";
import { Log } from "./log.js";
import { make } from "./markup.js";
import { Storage } from "./storage.js";
import { FULL_SCREEN, sheet } from "./style.js";
import { upload } from "./upload.js";
import { wordsOf } from "./words.js";

const BASE = new URL("../", import.meta.url);
const MOST_SUGGESTIONS = 8;
// A site is asked again after a pause that doubles, at most this long.
const LONGEST_PAUSE = 60000;
// What is said before there is a conversation waits for it: so many messages, later ones are let go.
const MOST_UNSAID = 20;

class Chat extends HTMLElement {
  static observedAttributes = ["open", "color", "identity", "heading", "greeting", "suggestions", "placeholder", "position"];

  constructor() {
    super();
    this.root = this.attachShadow({ mode: "open" });
    this.root.adoptedStyleSheets = [sheet()];
    this.site = {};
    this.unread = 0;
    this.unsaid = [];
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
    this.say(words);
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
      this.composer.end();
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

  address(path) { return new URL(`${path}/${encodeURIComponent(this.key)}`, BASE); }

  // What the site's settings say; the page's attributes come before them.
  async learn(pause) {
    try {
      const answer = await fetch(this.address("api/chat"));
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
    const { credential, session } = this.connection;
    const headers = { authorization: `Bearer ${credential}`, "x-session": session };
    const answer = await fetch(`${this.address("api/chat")}/files/${encodeURIComponent(file)}`, { headers });
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.blob();
  }

  begin() {
    this.connection?.end();
    this.composer.end();
    // They are the words of whom the page showed before.
    this.unsaid = [];
    const identity = this.getAttribute("identity");
    // Only to keep the visitors of one browser apart; the server believes the signature alone.
    const owner = identity ? `~${subject(identity)}` : "";
    this.storage = new Storage(this.key, owner);
    const address = this.address("ws");
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
    const { words, lang: language } = this;
    const button = (className, label, name, act) => {
      const made = make("button", { type: "button", class: className, "aria-label": label, title: label }, icon(name));
      made.addEventListener("click", act);
      return made;
    };
    const told = (text) => { this.status.textContent = text; };
    this.badge = make("span", { class: "badge", hidden: true });
    this.launcher = button("launcher", words.open, "chat", () => this.open());
    this.launcher.append(this.badge);
    this.launcher.setAttribute("aria-expanded", "false");
    this.status = make("span", { class: "unseen", role: "status" });
    this.drawer = new Drawer({ words, language, choose: (id) => this.choose(id), remove: (id) => this.erase(id) });
    this.greeting = make("p");
    this.chips = make("div", { class: "chips", role: "group", "aria-label": words.suggestions });
    this.log = new Log(words, language, {
      told, load: (file) => this.load(file), press: (id, pressed) => this.press(id, pressed),
      changed: () => { this.composer.stopper.hidden = this.log.pending.size === 0; },
      empty: make("div", { class: "empty" }, this.greeting, this.chips),
    });
    this.composer = new Composer({
      words, language, button, told, send: (text, files) => this.say(text, files), stop: () => this.connection.stop(),
      begin: (file, progress) => this.upload(file, progress),
    });
    this.downer = button("down", words.down, "down", () => this.log.toEnd());
    this.downer.hidden = true;
    const middle = make("div", { class: "middle" }, this.log.element, this.downer);
    this.panel = make("section", { class: "panel", "aria-labelledby": "heading", "data-drop": words.drop, hidden: true },
      this.header(button), this.bar, middle, this.composer.element);
    // Beside the messages on a wide page, over them elsewhere.
    (this.isPage ? this.panel : middle).append(this.drawer.element);
    if (!this.isPage) this.panel.setAttribute("role", "dialog");
    this.root.append(make("div", { class: "root", dir: direction(this) }, this.panel, this.status,
      this.isPage ? "" : this.launcher));
    this.listen();
  }

  header(button) {
    const { words } = this;
    this.heading = make("h2", { id: "heading" });
    this.barText = make("span");
    this.resume = make("button", { type: "button", hidden: true }, words.here);
    this.resume.addEventListener("click", () => this.connection.again());
    this.bar = make("div", { class: "bar", role: "status", hidden: true }, this.barText, this.resume);
    this.lists = button("tool list", words.list, "list", () => this.showList(this.drawer.element.hidden));
    this.closer = button("tool", words.close, "close", () => this.close());
    this.closer.hidden = this.isPage;
    return make("header", {}, make("span", { class: "dot" }), this.heading, this.lists,
      button("tool", words.fresh, "fresh", () => this.fresh()), this.closer);
  }

  listen() {
    const { log, composer } = this;
    this.composer.take(this.panel);
    this.panel.addEventListener("keydown", (event) => {
      if (event.key === "Tab") return this.stay(event);
      if (event.key !== "Escape" || event.isComposing) return;
      event.stopPropagation();
      if (!this.drawer.element.hidden && !this.isPage) this.showList(false);
      else this.close();
    });
    log.element.addEventListener("edit", (event) => composer.edit(event.detail));
    log.element.addEventListener("retry", (event) => this.say(event.detail));
    log.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  // Where the panel fills the screen the focus goes round inside of it: nobody would see it behind.
  stay(event) {
    if (this.isPage || !matchMedia(FULL_SCREEN).matches) return;
    const all = [...this.panel.querySelectorAll("button, textarea, a[href], [tabindex='0']")];
    const reached = all.filter((it) => !it.disabled && it.checkVisibility());
    const [from, to] = event.shiftKey ? [reached[0], reached.at(-1)] : [reached.at(-1), reached[0]];
    if (this.root.activeElement !== from) return;
    event.preventDefault();
    to.focus();
  }

  scrolled() {
    const { element, more, oldest, older } = this.log;
    this.downer.hidden = element.scrollHeight - element.scrollTop - element.clientHeight < 300;
    if (element.scrollTop > 80 || !more || !older.hidden || oldest === null) return;
    older.hidden = !this.connection.older(oldest);
  }

  // Texts, colours and place, from the attributes or the site.
  settle() {
    const { words, site, composer } = this;
    const text = (name) => this.getAttribute(name) ?? site[name];
    this.heading.textContent = text("heading") ?? site.title ?? "";
    if (this.isPage && this.heading.textContent) document.title = this.heading.textContent;
    this.greeting.textContent = text("greeting") || words.empty;
    composer.input.placeholder = text("placeholder") || words.placeholder;
    composer.settle(site.maxFile);
    if (site.position && !this.hasAttribute("position")) this.setAttribute("position", site.position);
    const given = this.getAttribute("suggestions");
    const suggestions = given === null ? site.suggestions ?? [] : given.split("|");
    this.chips.replaceChildren(...suggestions.map((it) => it.trim()).filter(Boolean).slice(0, MOST_SUGGESTIONS).map((it) => {
      const chip = make("button", { type: "button", dir: "auto" }, it);
      chip.addEventListener("click", () => {
        this.say(it);
        composer.input.focus();
      });
      return chip;
    }));
    this.chips.hidden = this.chips.childElementCount === 0;
    this.paint(text("color"));
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
      this.composer.input.focus({ preventScroll: true });
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
    this.ready();
    this.tell("state", state);
  }

  // What is written now can be said: to a conversation that the gateway has named once.
  ready() {
    this.composer.online = Boolean(this.connection?.session);
    this.composer.count();
  }

  // Every message that the server does not have yet is shown, with what it waits for.
  mark(note) {
    for (const item of this.storage.unsent(this.connection.session)) {
      if (item.press) this.pressing(item);
      else this.log.waiting(item, note);
    }
  }

  pressing({ messageId, press }) {
    this.log.presses.set(messageId, press.id);
    this.log.cards.get(press.id)?.begin(press.button);
  }

  heard(frame) {
    if (frame.type === "text" && frame.final) this.answered(frame);
    if (frame.type === "session" && frame.act === "delete") this.erased(frame);
    if (frame.elsewhere) return;
    if (frame.type === "welcome") this.welcome(frame);
    else if (frame.type === "sessions") this.drawer.show(frame.sessions, this.connection.session);
    else if (frame.type === "error" && !this.log.own.has(frame.messageId)) this.composer.warn(frame.text);
    this.log.take(frame);
    if (frame.type === "history" && frame.replace) this.caughtUp();
  }

  welcome(frame) {
    if (frame.sessionId !== this.session) {
      this.log.clear();
      // A file belongs to the conversation in which it was chosen.
      this.composer.end();
    }
    this.session = frame.sessionId;
    this.composer.most = frame.maxMessage;
    this.ready();
    if (frame.resumed) this.caughtUp();
    if (this.isPage || !this.drawer.element.hidden) this.connection.sessions();
  }

  caughtUp() {
    this.mark(this.words.sending);
    for (const said of this.unsaid.splice(0)) this.say(...said);
  }

  answered(frame) {
    if (this.panel.hidden || document.hidden) this.unseen(this.unread + 1);
    this.tell("message", { role: "bot", text: frame.text });
    if (this.isPage && this.drawer.untitled) this.connection.sessions();
  }

  say(text, files = []) {
    // Whatever waits goes first.
    if (!this.connection.session || this.unsaid.length) {
      if (this.unsaid.length < MOST_UNSAID) this.unsaid.push([text, files]);
      return;
    }
    this.composer.warn("");
    const said = { text };
    if (files.length) {
      said.files = files.map(({ file }) => file);
      said.shown = files.map(({ kind, name, size }) => ({ kind, name, size }));
    }
    const { item, left } = this.connection.say(said);
    this.log.waiting({ ...item, shown: files }, left ? this.words.sending : this.words.queued);
    this.tell("message", { role: "user", text });
  }

  // Answers a question. What it was answered with is shown when the gateway says so.
  press(id, button) {
    this.composer.warn("");
    this.pressing(this.connection.say({ press: { id, button } }).item);
  }

  upload(file, progress) {
    const { connection } = this;
    if (!connection.open || !connection.session) return null;
    const address = `${this.address("api/chat")}/files`;
    return upload(file, { address, credential: connection.credential, session: connection.session }, progress);
  }

  fresh() {
    this.showList(false);
    if (this.log.list.childElementCount > 0) this.connection.startNew();
    this.composer.input.focus();
  }

  choose(id) {
    this.showList(false);
    if (id !== this.connection.session) this.connection.switchTo(id);
    this.composer.input.focus();
  }

  erase(id) { this.connection.erase(id); }

  // A conversation is gone, by this window or another one.
  erased({ sessionId }) {
    if (sessionId === this.connection.session) this.connection.startNew();
    if (this.isPage || !this.drawer.element.hidden) this.connection.sessions();
  }

  showList(show) {
    const { element } = this.drawer;
    element.hidden = !show;
    this.lists.setAttribute("aria-expanded", String(show));
    if (!show) return;
    this.connection.sessions();
    element.tabIndex = -1;
    element.focus();
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
