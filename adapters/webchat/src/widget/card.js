// A question of the gateway as a card: its buttons, the press that is under way, and how it was answered. It knows no
// connection: a press is told to whoever made the card.

import { icon } from "./icons.js";
import { make } from "./markup.js";

const STYLES = new Set(["positive", "negative"]);

export class Card {
  constructor(buttons, words, press) {
    this.words = words;
    this.settled = false;
    this.note = make("p", { class: "note", hidden: true });
    this.buttons = new Map(buttons.map(({ id, label, style }) => {
      const look = STYLES.has(style) ? `choice ${style}` : "choice";
      const button = make("button", { type: "button", class: look, dir: "auto" }, label);
      // It stays where the focus is; what is answered only does nothing any more.
      button.addEventListener("click", () => { if (!this.busy && !this.settled) press(id); });
      return [id, button];
    }));
    this.element = make("div", { class: "card", role: "group", "aria-label": words.choose },
      make("div", { class: "choices" }, ...this.buttons.values()), this.note);
  }

  // A press is under way, from this window or another one.
  begin(id) {
    if (this.settled) return;
    this.busy = true;
    this.show(id, this.words.sending);
  }

  // It came to nothing: the question is still open.
  reopen() {
    if (this.settled) return;
    this.busy = false;
    this.show(null, "");
  }

  // It was answered, or can no longer be.
  settle(id) {
    this.settled = true;
    this.show(id, this.buttons.has(id) ? "" : this.words.settled);
  }

  show(chosen, note) {
    const closed = this.busy || this.settled;
    for (const [id, button] of this.buttons) {
      button.toggleAttribute("data-chosen", id === chosen);
      if (closed) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
      button.querySelector("svg")?.remove();
      button.removeAttribute("aria-pressed");
      if (id !== chosen || !this.settled) continue;
      button.setAttribute("aria-pressed", "true");
      button.prepend(icon("check"));
    }
    this.element.classList.toggle("closed", closed);
    this.note.textContent = note;
    this.note.hidden = !note;
  }
}
