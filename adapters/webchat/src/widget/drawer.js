// The list of the visitor's conversations: choosing one, and deleting one after a second press.

import { icon } from "./icons.js";
import { make } from "./markup.js";

export class Drawer {
  // `choose(id)` goes to a conversation, `remove(id)` deletes one.
  constructor({ words, language, choose, remove }) {
    Object.assign(this, { words, choose, remove });
    this.date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    this.element = make("nav", { class: "drawer", "aria-label": words.list, hidden: true });
    this.element.addEventListener("click", (event) => this.pressed(event));
  }

  // The one that is shown has no words yet if the gateway does not know it.
  show(sessions, current) {
    const known = sessions.some((it) => it.sessionId === current);
    const all = known ? sessions : [{ sessionId: current, title: "" }, ...sessions];
    this.untitled = !known;
    const focused = this.element.getRootNode().activeElement?.closest?.(".entry")?.dataset.id;
    this.element.replaceChildren(make("h3", {}, this.words.list), ...all.map((it) => this.entry(it, current)));
    if (focused) (this.find(focused) ?? this.element.querySelector("button"))?.focus();
  }

  find(id) { return [...this.element.querySelectorAll("[data-session]")].find((it) => it.dataset.session === id); }

  entry({ sessionId, title, at }, current) {
    const { words } = this;
    const name = title || words.untitled;
    const choice = make("button", { type: "button", "data-session": sessionId, dir: "auto",
      "aria-current": sessionId === current ? "true" : null }, name, at ? make("time", {}, this.date.format(at)) : "");
    const label = words.erase(name);
    const erase = make("button", { type: "button", class: "tool", "data-act": "ask", "aria-label": label, title: label,
      hidden: !at }, icon("erase"));
    const sure = make("div", { class: "sure", role: "group", "aria-label": label, hidden: true },
      make("span", {}, words.sure),
      make("button", { type: "button", class: "choice negative", "data-act": "erase" }, words.yesErase),
      make("button", { type: "button", class: "choice", "data-act": "keep" }, words.noErase));
    return make("div", { class: "entry", "data-id": sessionId }, choice, erase, sure);
  }

  pressed(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const entry = button.closest(".entry");
    const { act } = button.dataset;
    if (button.dataset.session) return this.choose(button.dataset.session);
    if (act === "erase") return this.remove(entry.dataset.id);
    const asks = act === "ask";
    entry.querySelector(".sure").hidden = !asks;
    entry.querySelector(asks ? "[data-act=keep]" : "[data-act=ask]").focus();
  }
}
