// Where the visitor writes: words, files and voice, until he sends them. It keeps nothing of what was sent, and knows the
// connection only by what it is told.

import { icon } from "./icons.js";
import { make } from "./markup.js";
import { Tray } from "./tray.js";
import { Recording, canRecord } from "./voice.js";

export class Composer {
  // `send(text, files)` says it; `stop()` ends the answer; `begin` as in Tray; `told` speaks to screen readers.
  constructor({ words, language, button, send, stop, begin, told }) {
    Object.assign(this, { words, send });
    this.mayFile = false;
    this.online = false;
    this.most = 8000;
    this.alert = make("p", { class: "alert", role: "alert", hidden: true });
    this.tray = new Tray({ words, language, begin, told, changed: () => this.count(), warn: (text) => this.warn(text) });
    this.input = make("textarea", { rows: "1", autocomplete: "off", enterkeyhint: "send", "aria-label": words.input,
      "aria-describedby": "hint", dir: "auto" });
    this.picker = make("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", "aria-label": words.attach });
    this.attach = button("tool", words.attach, "attach", () => this.picker.click());
    this.mic = button("tool", words.record, "mic", () => this.record());
    this.stopper = button("round stop", words.stop, "stop", stop);
    this.stopper.hidden = true;
    this.sender = make("button", { type: "submit", class: "round", "aria-label": words.send, title: words.send,
      disabled: true }, icon("send"));
    this.form = make("form", {}, this.attach, this.input, this.mic, this.stopper, this.sender);
    this.time = make("span", { role: "timer", class: "time" });
    this.recorder = make("div", { class: "recorder", role: "group", "aria-label": words.recording, hidden: true },
      make("span", { class: "dot" }), make("span", {}, words.recording), this.time,
      button("tool", words.discard, "close", () => this.recording?.discard()),
      button("round", words.finish, "check", () => this.recording?.finish()));
    this.hint = make("p", { class: "hint", id: "hint" }, words.hint);
    this.element = make("footer", {}, this.alert, this.tray.element, this.picker, this.recorder, this.form, this.hint);
    this.listen();
    this.settle(null);
  }

  listen() {
    const { input, form, picker } = this;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    input.addEventListener("input", () => this.count());
    input.addEventListener("keydown", (event) => {
      // Enter also ends the choice of an input method; that one is not for us.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      form.requestSubmit();
    });
    input.addEventListener("paste", (event) => {
      const { files } = event.clipboardData;
      if (!this.mayFile || files.length === 0) return;
      event.preventDefault();
      this.tray.add(files);
    });
    picker.addEventListener("change", () => {
      this.tray.add(picker.files);
      picker.value = "";
      input.focus();
    });
  }

  // Lets files be dropped on an element.
  take(panel) {
    const carries = (event) => this.mayFile && [...event.dataTransfer?.types ?? []].includes("Files");
    panel.addEventListener("dragover", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      panel.classList.add("dropping");
    });
    panel.addEventListener("dragleave", (event) => {
      if (!panel.contains(event.relatedTarget)) panel.classList.remove("dropping");
    });
    panel.addEventListener("drop", (event) => {
      panel.classList.remove("dropping");
      if (!carries(event)) return;
      event.preventDefault();
      this.tray.add(event.dataTransfer.files);
    });
  }

  // What the site takes.
  settle(limits) {
    this.tray.limits = limits;
    this.mayFile = Boolean(limits);
    this.attach.hidden = !this.mayFile;
    this.mic.hidden = !this.mayFile || !canRecord();
  }

  submit() {
    if (this.sender.disabled) return;
    const text = this.input.value.trim();
    this.input.value = "";
    const files = this.tray.take();
    this.count();
    this.send(text, files);
    this.input.focus();
  }

  // Puts words into the field, to be changed before they are sent.
  edit(text) {
    this.input.value = text;
    this.count();
    this.input.focus();
  }

  async record() {
    const { words } = this;
    this.warn("");
    // The visitor may be asked by the browser still, for a press before.
    this.recording?.discard();
    const recording = new Recording({
      name: words.voice,
      ticked: (seconds) => { this.time.textContent = clock(seconds); },
      ended: (file) => this.recorded(file),
    });
    this.recording = recording;
    try {
      if (!await recording.start()) return;
    } catch {
      recording.release();
      return this.warn(words.noVoice);
    }
    this.time.textContent = clock(0);
    this.recorder.hidden = false;
    this.form.hidden = true;
    this.recorder.querySelector(".round").focus();
  }

  recorded(file) {
    this.recorder.hidden = true;
    this.form.hidden = false;
    if (file) this.tray.add([file]);
    this.input.focus();
  }

  // Nothing more is recorded or sent from here.
  end() {
    this.recording?.discard();
    this.tray.clear();
  }

  warn(text) {
    this.alert.textContent = text;
    this.alert.hidden = !text;
  }

  count() {
    const { input, hint, words, tray } = this;
    const over = [...input.value].length - this.most;
    const text = over > 0 ? words.over(over) : words.hint;
    if (hint.textContent !== text) hint.textContent = text;
    hint.classList.toggle("over", over > 0);
    this.sender.disabled = over > 0 || !(input.value.trim() || tray.size) || !tray.ready || !this.online;
    input.style.height = "auto";
    if (input.value) input.style.height = `${input.scrollHeight}px`;
  }
}

function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
