// The server's markup as nodes. The server already escapes everything and sends a closed list of tags; here the
// same list is enforced once more, and nothing is ever handed to the browser's own HTML parser. So no text can
// become script, and pages that demand Trusted Types need no policy for us.

const TAGS = new Set(("p h1 h2 h3 h4 h5 h6 ul ol li pre code blockquote table thead tbody tr th td strong em del a " +
  "br hr").split(" "));
const PIECES = /<(\/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"<>]*")*)>|&(amp|lt|gt|quot|#39);|[^<&]+|[<&]/g;
const CHARACTERS = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'" };
const ALIGNED = new Set(["left", "center", "right"]);

function unescaped(text) {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => CHARACTERS[name]);
}

// An element with attributes and children; text is always text.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function element(tag, attributes) {
  const given = {};
  for (const [, name, value] of attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)) given[name] = unescaped(value);
  // The answer's headings are below those of the panel.
  if (/^h[1-6]$/.test(tag)) return make(`h${Math.min(Number(tag[1]) + 2, 6)}`, { class: `is-${tag}` });
  const made = document.createElement(tag);
  if (tag === "a" && /^(https?:\/\/|mailto:)/i.test(given.href ?? "")) {
    made.href = given.href;
    made.target = "_blank";
    made.rel = "noopener noreferrer nofollow";
    if (given.class === "picture") made.className = "picture";
  }
  if (tag === "ol" && /^\d{1,9}$/.test(given.start ?? "")) made.start = Number(given.start);
  if (tag === "li" && given.class === "continued") made.className = "continued";
  if ((tag === "td" || tag === "th") && ALIGNED.has(given.class)) made.className = given.class;
  if (tag === "code" && given.class?.startsWith("language-")) made.dataset.language = given.class.slice(9);
  return made;
}

// The top-level elements of some markup: one for each block of the answer.
export function nodes(markup, words) {
  const root = document.createDocumentFragment();
  const open = [root];
  for (const [piece, closing, tag, attributes, entity] of markup.matchAll(PIECES)) {
    const inside = open.at(-1);
    if (entity) inside.append(CHARACTERS[entity]);
    else if (!tag || !TAGS.has(tag)) inside.append(tag ? "" : piece);
    else if (closing) {
      if (open.length > 1) open.pop();
    } else {
      const made = element(tag, attributes);
      inside.append(made);
      if (tag !== "br" && tag !== "hr") open.push(made);
    }
  }
  root.normalize();
  for (const pre of root.querySelectorAll("pre")) {
    const language = pre.querySelector("code")?.dataset.language ?? "";
    const head = make("div", { class: "code-head" }, make("span", {}, language),
      make("button", { type: "button", class: "copy", "data-act": "copy-code" }, words.copy));
    const box = make("div", { class: "code" }, head);
    pre.replaceWith(box);
    // What scrolls must be reachable by keyboard.
    pre.tabIndex = 0;
    box.append(pre);
  }
  for (const link of root.querySelectorAll("a.picture[href^=http]")) {
    const offer = make("button", { type: "button", class: "offer", "data-act": "picture" }, words.picture(link.hostname));
    const box = make("span", { class: "pictured", "data-picture": link.href });
    link.replaceWith(box);
    box.append(link, offer);
  }
  for (const table of root.querySelectorAll("table")) {
    const box = make("div", { class: "table", tabindex: "0", role: "group", "aria-label": words.table });
    table.replaceWith(box);
    box.append(table);
  }
  return root;
}

function same(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return false;
  if (old.nodeType !== Node.ELEMENT_NODE) return true;
  return old.attributes.length === fresh.attributes.length &&
    [...fresh.attributes].every(({ name, value }) => old.getAttribute(name) === value);
}

// Makes `target` show what `fresh` holds, from child `from` on, and touches only what differs: a selection, a
// scrolled block of code or a pressed button survive while the text around them grows.
export function patch(target, fresh, from = 0) {
  const wanted = [...fresh.childNodes];
  wanted.forEach((node, index) => {
    const old = target.childNodes[from + index];
    if (!old) target.append(node);
    else if (!same(old, node)) old.replaceWith(node);
    else if (old.nodeType === Node.ELEMENT_NODE) {
      // A button says "copied" for a while, and a picture that was asked for is shown; those are no differences.
      if (old.localName !== "button" && !old.dataset.picture) patch(old, node);
    } else if (old.data !== node.data) {
      if (node.data.startsWith(old.data)) old.appendData(node.data.slice(old.data.length));
      else old.data = node.data;
    }
  });
  while (target.childNodes.length > from + wanted.length) target.lastChild.remove();
}
