// What outlives the page: who the visitor is, and what he wrote that the server does not have yet.
// Without storage (private windows, a full disk) everything works, as a new visitor each time.

const MOST_UNSENT = 100;

export class Storage {
  // `owner` keeps visitors apart that use one browser: nobody's words are sent as somebody else's.
  constructor(site, owner = "") {
    this.prefix = `weirgate.${site}.${owner}`;
    this.memory = new Map(this.read("unsent", []).map((item) => [item.messageId, item]));
  }

  read(key, fallback) {
    try { return JSON.parse(localStorage.getItem(`${this.prefix}.${key}`)) ?? fallback; } catch { return fallback; }
  }

  write(key, value) {
    try { localStorage.setItem(`${this.prefix}.${key}`, JSON.stringify(value)); } catch { /* see above */ }
  }

  // Other windows share the storage and may send the same: the server takes each messageId once. So the list is
  // changed item by item.
  keep(item) {
    this.memory.set(item.messageId, item);
    this.write("unsent", [...this.read("unsent", []), item].slice(-MOST_UNSENT));
  }

  drop(messageId) {
    if (!this.memory.delete(messageId)) return;
    this.write("unsent", this.read("unsent", []).filter((item) => item.messageId !== messageId));
  }

  unsent(session) {
    return [...this.memory.values()].filter((item) => item.session === session);
  }
}

export function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
}
