// The messages of one conversation as elements: what was said, what is being written, what waits. It knows the frames
// of the protocol and no connection. Each frame type has one function in `frames`; a new kind gets one more.

import { Card } from "./card.js";
import { icon } from "./icons.js";
import { make, nodes, patch } from "./markup.js";
import { sent } from "./sent.js";
import { shownFiles } from "./tray.js";

// Closer to the end than this many pixels, the view follows what comes.
const NEAR = 80;

export class Log {
  // `told` is called with a text for screen readers; `changed` whenever something is answered or shown; `press` with an
  // answer and the button of it that was pressed; `load` gives the bytes of a file of an answer.
  constructor(words, language, { told, changed, press, load, empty }) {
    Object.assign(this, { words, language, told, changed, press, load });
    this.list = make("div", { class: "list", role: "log", "aria-live": "off", "aria-label": words.log });
    this.older = make("p", { class: "older", role: "status", hidden: true }, words.older);
    this.tools = make("span", { class: "note" });
    this.dots = make("div", { class: "message bot thinking", hidden: true },
      make("div", { class: "bubble" }, make("i"), make("i"), make("i"), this.tools));
    this.element = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.log },
      this.older, empty, this.list, this.dots);
    this.empty = empty;
    this.pending = new Set();
    this.own = new Map();      // messageId -> element
    this.cards = new Map();    // id of an answer -> card
    this.presses = new Map();  // messageId of a press -> id of the answer
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
    const { pending, own, cards, presses, shown, done, drafts } = this;
    for (const known of [pending, own, cards, presses, shown, done, drafts]) known.clear();
    this.tools.textContent = "";
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

  // A message of the visitor: its words, if there are any, and its files.
  ownMessage(markup, files) {
    const element = this.message("user", markup);
    element.firstChild.hidden = !markup;
    if (files?.length) element.firstChild.after(shownFiles(files, this.words, this.language));
    // What has no words can be neither changed nor asked again later.
    if (!markup) element.querySelector(".tools").hidden = true;
    return element;
  }

  // The visitor's own message, as the server says it.
  showOwn(messageId, markup, files) {
    const element = this.own.get(messageId);
    if (element) return patch(element.firstChild, nodes(markup, this.words));
    const made = this.ownMessage(markup, files);
    this.own.set(messageId, made);
    this.keepEnd(() => this.list.append(made));
  }

  // It, before the server has it: no markup yet.
  waiting({ messageId, text, shown }, note) {
    let element = this.own.get(messageId);
    if (!element) {
      element = this.ownMessage("", shown);
      if (text) {
        element.firstChild.append(make("p", {}, text));
        element.firstChild.hidden = false;
        element.querySelector(".tools").hidden = false;
      }
      this.own.set(messageId, element);
      this.keepEnd(() => this.list.append(element), true);
    }
    element.classList.add("waiting");
    this.note(element, note);
  }

  // Puts the buttons of a question under it.
  ask(element, id, buttons) {
    const card = new Card(buttons, this.words, (button) => this.press(id, button));
    this.cards.set(id, card);
    element.firstChild.after(card.element);
    element.classList.add("asks");
    return card;
  }

  arrived(messageId) {
    const element = this.own.get(messageId);
    if (!element?.classList.contains("waiting")) return;
    element.classList.remove("waiting");
    this.note(element, "");
  }

  // A press that settled nothing leaves the question open.
  pressEnded(messageId) {
    this.cards.get(this.presses.get(messageId))?.reopen();
    this.presses.delete(messageId);
  }

  busy() {
    const waits = this.pending.size > 0 && (this.drafts.size === 0 || this.tools.textContent !== "");
    if (this.dots.hidden === waits) {
      this.keepEnd(() => { this.dots.hidden = !waits; });
      if (waits) this.told(this.words.thinking);
    }
    this.changed();
  }

  take(frame) { frames[frame.type]?.call(this, frame); }

  past(item) {
    if (item.role === "user") {
      if (item.pending) this.pending.add(item.messageId);
      if (item.pressed || this.own.has(item.messageId)) return [];
      const element = this.ownMessage(item.html, item.files);
      this.own.set(item.messageId, element);
      return [element];
    }
    if (this.shown.has(item.id) || this.shown.has(`${item.id}.0`)) return [];
    this.shown.add(item.id);
    if (item.turn) this.done.add(item.turn);
    const element = this.message("bot", item.html, item.files);
    if (item.buttons) {
      const card = this.ask(element, item.id, item.buttons);
      if (!item.open) card.settle(item.chosen);
    }
    return [element];
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
        place = this.message("bot", frame.html, frame.files);
        this.list.append(place);
      }
      if (frame.buttons) this.ask(place, frame.id, frame.buttons);
    });
    const names = [...frame.files ?? [], ...frame.buttons ?? []].map((it) => it.name ?? it.label);
    this.told([frame.text, ...names].filter(Boolean).join("\n"));
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
    if (button.dataset.act === "picture") return this.picture(button);
    const message = button.closest(".message");
    const text = plain(message.firstChild);
    if (button.dataset.act === "copy") return this.copy(button, text);
    if (button.dataset.act === "copy-code") {
      return this.copy(button, button.closest(".code").querySelector("pre").textContent);
    }
    this.element.dispatchEvent(new CustomEvent(button.dataset.act, { detail: text }));
  }

  // Loads a picture, now that the visitor wants it: its server hears of him only then.
  picture(button) {
    const link = button.parentElement.querySelector("a");
    const image = make("img", { alt: link.textContent, referrerpolicy: "no-referrer", decoding: "async" });
    image.addEventListener("load", () => this.keepEnd(() => {
      button.replaceWith(image);
      link.focus({ preventScroll: true });
    }));
    image.addEventListener("error", () => button.replaceWith(make("span", { class: "note" }, this.words.noPicture)));
    button.setAttribute("aria-disabled", "true");
    image.src = link.href;
  }

  async copy(button, text) {
    try { await navigator.clipboard.writeText(text); } catch { return; }
    this.told(this.words.copied);
    const before = [...button.childNodes];
    button.replaceChildren(button.classList.contains("copy") ? this.words.copied : icon("check"));
    setTimeout(() => button.replaceChildren(...before), 1500);
  }
}

// The words of a message as they are seen, without those of our own buttons.
function plain(bubble) {
  bubble.classList.add("bare");
  const text = bubble.innerText.trim();
  bubble.classList.remove("bare");
  return text;
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
    if (frame.pressed) {
      this.presses.set(frame.messageId, frame.pressed.id);
      this.cards.get(frame.pressed.id)?.begin(frame.pressed.button);
    } else {
      this.showOwn(frame.messageId, frame.html, frame.files);
    }
    this.arrived(frame.messageId);
    this.pending.add(frame.messageId);
    this.busy();
  },

  text(frame) {
    this.tools.textContent = "";
    if (frame.final) this.answer(frame); else this.draft(frame);
  },

  // Which tools run while the answer is not there yet.
  tool_calls(frame) {
    if (this.done.has(frame.turn)) return;
    frame.answers.forEach((id) => this.arrived(id));
    const names = frame.calls.filter(({ status }) => status === "running").map(({ name }) => name);
    this.tools.textContent = names.length ? this.words.tools(names.join(", ")) : "";
    this.busy();
  },

  settled(frame) {
    this.cards.get(frame.id)?.settle(frame.chosen);
  },

  end(frame) {
    if (frame.messageId) {
      this.arrived(frame.messageId);
      this.pending.delete(frame.messageId);
      this.pressEnded(frame.messageId);
    }
    this.busy();
  },

  error(frame) {
    if (frame.code === "history_unavailable") this.older.hidden = true;
    const later = frame.code === "store_unavailable" || frame.code === "stopping";
    if (!later) this.pressEnded(frame.messageId);
    const element = this.own.get(frame.messageId);
    if (!element) return;
    this.note(element, later ? `${frame.text} ${this.words.again}` : frame.text, true);
    if (!later) {
      element.classList.remove("waiting");
      this.pending.delete(frame.messageId);
    }
    this.busy();
  },
};
