// The files of the message that is being written: each with its progress, what went wrong, and a way to take it out.
// How a file gets to the gateway is somebody else's business.

import { icon } from "./icons.js";
import { make } from "./markup.js";
import { MOST_FILES, limit, readable, thumbnail } from "./upload.js";

export class Tray {
  // `begin(file, progress)` starts an upload, or gives null without a connection; `changed` is called whenever what can
  // be sent may have changed; `told` and `warn` with a text for people.
  constructor({ words, language, begin, changed, told, warn }) {
    Object.assign(this, { words, language, begin, changed, told, warn });
    this.items = [];
    this.limits = null;
    this.element = make("ul", { class: "tray", "aria-label": words.files, hidden: true });
  }

  get ready() { return this.items.every((item) => item.answer); }
  get size() { return this.items.length; }

  add(files) {
    this.warn("");
    for (const file of files) {
      const most = limit(file, this.limits);
      if (this.items.length >= MOST_FILES) this.warn(this.words.tooMany(MOST_FILES));
      else if (file.size > most) this.warn(this.words.tooLarge(file.name, readable(most, this.language)));
      else this.put(file);
    }
  }

  put(file) {
    const { words } = this;
    const button = (label, name, act) => {
      const made = make("button", { type: "button", class: "tool", "aria-label": label, title: label }, icon(name));
      made.addEventListener("click", act);
      return made;
    };
    const item = { file, picture: make("span", { class: "sign" }, icon("file")) };
    item.state = make("span", { class: "state" });
    item.bar = make("progress", { max: "1", value: "0", "aria-label": words.uploading(file.name) });
    item.retry = button(words.retryFile(file.name), "retry", () => this.start(item));
    item.element = make("li", {}, item.picture,
      make("span", { class: "name" }, make("bdi", {}, file.name), item.state, item.bar), item.retry,
      button(words.remove(file.name), "close", () => this.remove(item)));
    this.items.push(item);
    this.element.append(item.element);
    this.draw(item);
    this.start(item);
  }

  async draw(item) {
    const picture = await thumbnail(item.file);
    if (!picture) return;
    item.picture.replaceWith(picture);
    item.picture = picture;
  }

  async start(item) {
    item.sending = this.begin(item.file, (part) => { item.bar.value = part; });
    this.show(item, "");
    try {
      if (!item.sending) throw { code: "network" };
      item.answer = await item.sending.done;
      if (!this.items.includes(item)) return;
      this.show(item, readable(item.file.size, this.language));
      this.told(this.words.uploaded(item.file.name));
    } catch ({ code, limit: most }) {
      if (!this.items.includes(item)) return;
      item.sending = null;
      const why = most ? this.words.tooLarge(item.file.name, readable(most, this.language))
        : this.words.refusals[code] ?? this.words.refusals.network;
      this.show(item, why, true);
      this.told(why);
    }
  }

  show(item, text, failed = false) {
    item.state.textContent = text;
    item.bar.hidden = failed || Boolean(item.answer);
    item.retry.hidden = !failed;
    item.element.classList.toggle("failed", failed);
    this.element.hidden = this.items.length === 0;
    this.changed();
  }

  remove(item) {
    item.sending?.abort();
    this.items = this.items.filter((it) => it !== item);
    item.element.remove();
    this.element.hidden = this.items.length === 0;
    this.changed();
  }

  clear() { for (const item of this.items) this.remove(item); }

  // Hands over what is ready: what the gateway calls the files, and what they look like.
  take() {
    const taken = this.items.map(({ answer, picture }) => ({ ...answer, picture }));
    this.items = [];
    this.element.replaceChildren();
    this.element.hidden = true;
    return taken;
  }
}

// Files of a message that was sent.
export function shownFiles(files, words, language) {
  return make("ul", { class: "brought", "aria-label": words.files }, ...files.map(({ kind, name, size, picture }) => {
    const sign = picture?.localName === "canvas" ? picture
      : make("span", { class: "sign" }, icon(kind === "audio" ? "mic" : "file"));
    return make("li", {}, sign, make("span", { class: "name" }, make("bdi", {}, name || words.kinds[kind] || words.kinds.file),
      make("span", { class: "state" }, size ? readable(size, language) : "")));
  }));
}
