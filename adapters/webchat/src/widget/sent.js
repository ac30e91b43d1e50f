// Files of an answer: pictures, sound and video are shown, everything else is offered to be saved. A file is fetched when
// it comes into view, with the visitor's token in a header; no address leads to it, and a page that shows it can do
// nothing with it but show it.

import { make } from "./markup.js";

const SHOWN = { image: "img", sticker: "img", video: "video", audio: "audio", voice: "audio" };

// `load` gives the bytes of a file as a Blob.
export function sent(files, load, words) {
  const box = make("div", { class: "files" });
  for (const file of files ?? []) box.append(one(file, load, words));
  return box;
}

function one(file, load, words) {
  const save = make("button", { type: "button", class: "file", dir: "auto" }, `${file.name} (${size(file.size)})`);
  save.addEventListener("click", async () => {
    const address = await addressOf(file, load);
    if (!address) { save.textContent = `${file.name}: ${words.gone}`; return; }
    make("a", { href: address, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });
  const tag = SHOWN[file.kind];
  if (!tag) return save;
  const shown = make(tag, tag === "img" ? { alt: file.name } : { controls: "", preload: "none", "aria-label": file.name });
  shown.className = file.kind;
  const fill = async () => {
    const address = await addressOf(file, load);
    if (!address) { shown.replaceWith(save); return; }
    // What a browser cannot show can be saved.
    shown.addEventListener("error", () => shown.replaceWith(save), { once: true });
    // A picture is decoded now and needs its bytes no more; sound and video are read on while they play.
    if (tag === "img") shown.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
    shown.src = address;
  };
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    fill();
  }, { rootMargin: "200px" }).observe(shown);
  return shown;
}

async function addressOf(file, load) {
  try { return URL.createObjectURL(await load(file.file)); } catch { return null; }
}

function size(bytes) {
  return bytes < 1048576 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}
