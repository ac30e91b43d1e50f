// The messages of one conversation as elements: what was said, what is being written, what waits. It knows the frames
// of the protocol and no connection. Each frame type has one function in `frames`; a new kind gets one more.

import { make, nodes, patch } from "./markup.js";
import { icon } from "./icons.js";
import { sent } from "./sent.js";

// Closer to the end than this many pixels, the view follows what comes.
const NEAR = 80;

export class Log {
  // `told` is called with a text for screen readers; `changed` whenever something is answered or shown; `load` gives the
  // bytes of a file of an answer.
  constructor(words, { told, changed, load, empty }) {
    Object.assign(this, { words, told, changed, load });
    this.list = make("div", { class: "list", role: "log", "aria-live": "off", "aria-label": words.log });
    this.older = make("p", { class: "older", role: "status", hidden: true }, words.older);
    this.dots = make("div", { class: "message bot thinking", hidden: true },
      make("div", { class: "bubble" }, make("i"), make("i"), make("i")));
    this.element = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.log },
      this.older, empty, this.list, this.dots);
    this.empty = empty;
    this.pending = new Set();
    this.own = new Map();      // messageId -> element
    this.shown = new Set();    // "id.part" of answers, and ids of answers from the history
    this.done = new Set();     // turns that have their final text
    this.drafts = new Map();   // turn -> { element, attempt, answers }
    this.oldest = null;
    this.more = false;
    this.list.addEventListener("click", (event) => this.pressed(event));
  }

  get atEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  toEnd() { this.element.scrollTop = this.element.scrollHeight; }

  keepEnd(change, force = false) {
    const stick = force || this.atEnd;
    change();
    this.empty.hidden = this.list.childElementCount > 0;
    if (stick) this.toEnd();
  }

  clear() {
    this.list.replaceChildren();
    for (const known of [this.pending, this.own, this.shown, this.done, this.drafts]) known.clear();
    this.oldest = null;
    this.more = false;
    this.empty.hidden = false;
    this.busy();
  }

  tool(act, label, name) {
    return make("button", { type: "button", "data-act": act, "aria-label": label, title: label }, icon(name));
  }

  message(role, markup, files) {
    const bubble = make("div", { class: "bubble", dir: "auto" });
    bubble.append(nodes(markup, this.words));
    if (files) bubble.append(sent(files, this.load, this.words));
    const tools = role === "user"
      ? [this.tool("edit", this.words.edit, "edit"), this.tool("retry", this.words.retry, "retry")]
      : [this.tool("copy", this.words.copy, "copy")];
    return make("article", { class: `message ${role}` }, bubble, make("div", { class: "tools" }, ...tools));
  }

  note(element, text, failed = false) {
    element.querySelector(".note")?.remove();
    element.classList.toggle("failed", failed);
    if (text) element.append(make("p", { class: "note" }, text));
  }

  // The visitor's own message, before the server has it (no markup yet) or when it says so.
  showOwn(messageId, markup, text = "") {
    let element = this.own.get(messageId);
    if (!element) {
      element = this.message("user", markup ?? "");
      if (markup === undefined) element.firstChild.append(make("p", {}, text));
      this.own.set(messageId, element);
      this.keepEnd(() => this.list.append(element), markup === undefined);
    } else if (markup !== undefined) {
      patch(element.firstChild, nodes(markup, this.words));
    }
    return element;
  }

  waiting(messageId, text, note) {
    const element = this.showOwn(messageId, undefined, text);
    element.classList.add("waiting");
    this.note(element, note);
  }

  arrived(messageId) {
    const element = this.own.get(messageId);
    if (!element?.classList.contains("waiting")) return;
    element.classList.remove("waiting");
    this.note(element, "");
  }

  busy() {
    const waits = this.pending.size > 0 && this.drafts.size === 0;
    if (this.dots.hidden === waits) {
      this.keepEnd(() => { this.dots.hidden = !waits; });
      if (waits) this.told(this.words.thinking);
    }
    this.changed();
  }

  take(frame) { frames[frame.type]?.call(this, frame); }

  past(item) {
    if (item.role === "user") {
      if (this.own.has(item.messageId)) return [];
      const element = this.message("user", item.html);
      this.own.set(item.messageId, element);
      if (item.pending) this.pending.add(item.messageId);
      return [element];
    }
    if (this.shown.has(item.id) || this.shown.has(`${item.id}.0`)) return [];
    this.shown.add(item.id);
    if (item.turn) this.done.add(item.turn);
    return [this.message("bot", item.html, item.files)];
  }

  answer(frame) {
    const key = `${frame.id}.${frame.part}`;
    if (this.shown.has(frame.id) || this.shown.has(key)) return;
    this.shown.add(key);
    if (frame.turn) this.done.add(frame.turn);
    frame.answers.forEach((id) => this.arrived(id));
    this.keepEnd(() => {
      let place = null;
      for (const [turn, item] of this.drafts) {
        if (turn !== frame.turn && !item.answers.some((id) => frame.answers.includes(id))) continue;
        if (place) item.element.remove();
        place ??= item.element;
        this.drafts.delete(turn);
      }
      if (place) {
        patch(place.firstChild, nodes(frame.html, this.words));
        if (frame.files) place.firstChild.append(sent(frame.files, this.load, this.words));
        place.classList.remove("draft");
        place.removeAttribute("aria-busy");
      } else {
        this.list.append(this.message("bot", frame.html, frame.files));
      }
    });
    this.told(frame.text || frame.files?.map((file) => file.name).join(", ") || "");
    this.busy();
  }

  draft(frame) {
    if (this.done.has(frame.turn)) return;
    frame.answers.forEach((id) => this.arrived(id));
    this.keepEnd(() => {
      let item = this.drafts.get(frame.turn);
      if (!item) {
        item = { element: this.message("bot draft", ""), attempt: 0, answers: frame.answers };
        item.element.setAttribute("aria-busy", "true");
        this.drafts.set(frame.turn, item);
        this.list.append(item.element);
      }
      if (frame.attempt < item.attempt) return;
      const fresh = frame.replace || frame.attempt > item.attempt;
      item.attempt = frame.attempt;
      // One block is one element, so the number of a block is the number of a child.
      patch(item.element.firstChild, nodes(frame.html, this.words), fresh ? 0 : frame.block);
    });
    this.busy();
  }

  async pressed(event) {
    const button = event.target.closest("button[data-act]");
    if (!button) return;
    const message = button.closest(".message");
    const text = message.firstChild.innerText.trim();
    if (button.dataset.act === "copy") return this.copy(button, text);
    if (button.dataset.act === "copy-code") {
      return this.copy(button, button.closest(".code").querySelector("pre").textContent);
    }
    this.element.dispatchEvent(new CustomEvent(button.dataset.act, { detail: text }));
  }

  async copy(button, text) {
    try { await navigator.clipboard.writeText(text); } catch { return; }
    this.told(this.words.copied);
    const before = [...button.childNodes];
    button.replaceChildren(button.classList.contains("copy") ? this.words.copied : icon("check"));
    setTimeout(() => button.replaceChildren(...before), 1500);
  }
}

const frames = {
  history(frame) {
    this.older.hidden = true;
    if (frame.replace) {
      this.clear();
      this.keepEnd(() => this.list.append(...frame.messages.flatMap((item) => this.past(item))), true);
    } else {
      const height = this.element.scrollHeight;
      this.list.prepend(...frame.messages.flatMap((item) => this.past(item)));
      this.element.scrollTop += this.element.scrollHeight - height;
    }
    this.oldest = frame.messages[0]?.id ?? this.oldest;
    this.more = frame.more && frame.messages.length > 0;
    this.busy();
  },

  // Whether an answer is still to come says `user`: this frame may be slower than the answer.
  ack(frame) { this.arrived(frame.messageId); },

  user(frame) {
    this.showOwn(frame.messageId, frame.html);
    this.arrived(frame.messageId);
    this.pending.add(frame.messageId);
    this.busy();
  },

  text(frame) { if (frame.final) this.answer(frame); else this.draft(frame); },

  end(frame) {
    if (frame.messageId) {
      this.arrived(frame.messageId);
      this.pending.delete(frame.messageId);
    }
    this.busy();
  },

  error(frame) {
    if (frame.code === "history_unavailable") this.older.hidden = true;
    const element = this.own.get(frame.messageId);
    if (!element) return;
    const later = frame.code === "store_unavailable" || frame.code === "stopping";
    this.note(element, later ? `${frame.text} ${this.words.again}` : frame.text, true);
    if (!later) {
      element.classList.remove("waiting");
      this.pending.delete(frame.messageId);
    }
    this.busy();
  },
};
