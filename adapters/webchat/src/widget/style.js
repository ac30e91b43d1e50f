// The look, as a sheet that the shadow root adopts: no style attribute and no style element, so that a page's strict
// Content-Security-Policy does not stand in the way, and no rule of the page reaches inside.

// From where on the panel fills the screen.
export const FULL_SCREEN = "(max-width: 520px)";

const CSS = `
:host {
  all: initial !important;
  position: fixed !important; z-index: 2147483000 !important;
  inset-block-end: 20px !important; inset-inline-end: 20px !important;
  display: block !important;
}
:host([hidden]) { display: none !important; }
:host([position="left"]) { inset-inline-end: auto !important; inset-inline-start: 20px !important; }
:host([mode="page"]) { position: static !important; }

* { box-sizing: border-box; }
[hidden] { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.root {
  color-scheme: light dark;
  --fill: #1f5fd6; --on-fill: #fff;
  --page: light-dark(#f5f6f9, #14171d); --card: light-dark(#fff, #1e232c); --text: light-dark(#1a1e26, #e8ebf1);
  --soft: light-dark(#565f6e, #a3adbd); --line: light-dark(#dde1e8, #343b48); --code: light-dark(#eef1f6, #12151b);
  --link: light-dark(#1a55c4, #8fb4ff); --focus: light-dark(#1a55c4, #a9c5ff); --bad: light-dark(#b3261e, #f49b95);
  --good: light-dark(#1a8f4a, #56c786); --wait: light-dark(#a86a00, #e3ab4a);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  color: var(--text); text-align: start;
}
:host([theme="light"]) .root { color-scheme: light; }
:host([theme="dark"]) .root { color-scheme: dark; }
button, textarea { font: inherit; color: inherit; margin: 0; }
button { cursor: pointer; border: 0; background: none; padding: 0; }
button:disabled { cursor: default; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
svg { width: 1.25em; height: 1.25em; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round;
  stroke-linejoin: round; display: block; }

.launcher {
  position: relative; display: grid; place-items: center; width: 56px; height: 56px; margin-inline-start: auto;
  border-radius: 50%; background: var(--fill); color: var(--on-fill);
  box-shadow: 0 6px 20px rgb(0 0 0 / .22); transition: transform .15s;
}
.launcher:hover { transform: scale(1.05); }
.launcher svg { width: 26px; height: 26px; }
.badge {
  position: absolute; inset-block-start: -4px; inset-inline-end: -4px; min-width: 22px; padding: 0 6px;
  border-radius: 11px; background: #b3261e; color: #fff; font-size: 13px; line-height: 22px; font-weight: 600;
}
.panel.dropping::after { content: attr(data-drop); position: absolute; inset: 8px; z-index: 3; display: grid;
  place-items: center; border: 2px dashed var(--focus); border-radius: 14px; background: var(--page); font-weight: 600; }
:host([position="left"]) .launcher { margin-inline: 0 auto; }

.panel {
  display: flex; flex-direction: column; position: relative; overflow: hidden;
  width: min(400px, calc(100vw - 40px)); height: min(640px, calc(100dvh - 40px));
  background: var(--page); border: 1px solid var(--line); border-radius: 18px;
  box-shadow: 0 18px 50px rgb(0 0 0 / .25);
}
:host([mode="page"]) .panel { width: 100%; height: 100dvh; border: 0; border-radius: 0; box-shadow: none; }
header {
  display: flex; align-items: center; gap: 4px; padding: 10px 10px 10px 16px; background: var(--card);
  border-block-end: 1px solid var(--line);
}
header h2 { flex: 1; min-width: 0; margin: 0; font-size: 16px; font-weight: 650; line-height: 1.3; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; }
.dot { flex: none; width: 9px; height: 9px; margin-inline-end: 6px; border-radius: 50%; background: var(--wait); }
[data-state="online"] .dot { background: var(--good); }
[data-state="offline"] .dot, [data-state="closed"] .dot, [data-state="refused"] .dot { background: var(--bad); }
.tool { flex: none; display: grid; place-items: center; width: 36px; height: 36px; border-radius: 10px; color: var(--soft); }
.tool:hover { background: var(--code); color: var(--text); }
.bar { display: flex; gap: 8px; align-items: center; justify-content: center; padding: 6px 12px; font-size: 13px;
  background: var(--code); border-block-end: 1px solid var(--line); text-align: center; }
.bar button { padding: 2px 10px; border: 1px solid currentColor; border-radius: 99px; }
.bar.bad { color: var(--bad); }

.middle { position: relative; flex: 1; min-height: 0; }
.scroll { height: 100%; overflow-y: auto; overscroll-behavior: contain; padding: 16px; }
:host([mode="page"]) .scroll { padding-inline: max(16px, calc((100% - 46rem) / 2)); }
.scroll:focus-visible { outline-offset: -3px; }
.older { text-align: center; color: var(--soft); font-size: 13px; margin: 0 0 12px; }
.empty { display: flex; flex-direction: column; gap: 14px; padding-block: 8px; }
:host([mode="page"]) .empty { padding-block-start: 16vh; align-items: center; text-align: center; }
.empty p { margin: 0; font-size: 17px; font-weight: 600; white-space: pre-line; }
.chips { display: flex; flex-wrap: wrap; gap: 8px; }
.chips button { padding: 8px 14px; border: 1px solid var(--line); border-radius: 14px; background: var(--card);
  text-align: start; font-size: 14px; }
.chips button:hover { border-color: var(--focus); }

.message { display: flex; flex-direction: column; align-items: flex-start; margin: 0 0 6px; }
.message.user { align-items: flex-end; }
.bubble { max-width: 100%; padding: 9px 14px; border-radius: 16px; border: 1px solid var(--line);
  border-end-start-radius: 5px; background: var(--card); overflow-wrap: anywhere; min-width: 0; }
.user .bubble { max-width: 85%; background: var(--fill); color: var(--on-fill); border-color: transparent;
  border-end-start-radius: 16px; border-end-end-radius: 5px; }
.tools { display: flex; gap: 2px; min-height: 26px; opacity: 0; transition: opacity .12s; }
.message:hover .tools, .tools:focus-within, .message:last-of-type .tools { opacity: 1; }
.draft .tools, .waiting .tools { visibility: hidden; }
.tools button { display: grid; place-items: center; width: 26px; height: 26px; border-radius: 7px; color: var(--soft); }
.tools button:hover { background: var(--code); color: var(--text); }
.tools svg { width: 15px; height: 15px; }
@media (hover: none) { .tools { opacity: 1; } }
.note { margin: 0 4px 6px; font-size: 13px; color: var(--soft); }
.failed .note { color: var(--bad); }
.waiting .bubble { opacity: .75; }

.bubble > :first-child, blockquote > :first-child { margin-block-start: 0; }
.bubble > :last-child, blockquote > :last-child { margin-block-end: 0; }
.bubble p { margin: .6em 0; white-space: pre-wrap; }
h3, h4, h5, h6 { margin: 1em 0 .4em; line-height: 1.3; font-size: 1.02em; font-weight: 650; }
.is-h1 { font-size: 1.28em; } .is-h2 { font-size: 1.14em; }
ul, ol { margin: .5em 0; padding-inline-start: 1.6em; }
li { margin: .2em 0; }
li.continued { list-style: none; }
a { color: var(--link); text-underline-offset: 2px; }
.user .bubble a { color: inherit; }
blockquote { margin: .6em 0; padding-inline-start: .9em; border-inline-start: 3px solid var(--line); color: var(--soft); }
hr { border: 0; border-block-start: 1px solid var(--line); margin: 1em 0; }
code { padding: .1em .3em; border-radius: 5px; background: var(--code);
  font: .88em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono CJK SC", monospace; }
.user .bubble code { background: rgb(0 0 0 / .22); }
.code { margin: .7em 0; border: 1px solid var(--line); border-radius: 10px; background: var(--code); overflow: hidden; }
.code-head { display: flex; justify-content: space-between; padding: 3px 10px; font-size: 12.5px; color: var(--soft);
  border-block-end: 1px solid var(--line); }
.copy { min-height: 24px; padding: 0 6px; border-radius: 6px; }
.copy:hover { color: var(--text); }
pre { margin: 0; padding: 10px 12px; overflow-x: auto; white-space: pre; overflow-wrap: normal; direction: ltr;
  text-align: left; }
pre:focus-visible, .table:focus-visible { outline-offset: -2px; }
pre code { padding: 0; background: none; }
.bare button, .bare .code-head { display: none; }
.table { overflow-x: auto; margin: .7em 0; border: 1px solid var(--line); border-radius: 10px; }
table { border-collapse: collapse; min-width: 100%; overflow-wrap: normal; }
th, td { padding: 6px 12px; text-align: start; border-block-end: 1px solid var(--line); }
tbody tr:last-child td { border-block-end: 0; }
th { background: var(--code); font-weight: 600; }
.left { text-align: left; } .center { text-align: center; } .right { text-align: right; }

.files { display: flex; flex-wrap: wrap; gap: 6px; }
.files:not(:first-child) { margin-block-start: 8px; }
.files :is(img, video) { max-width: 100%; max-height: 320px; min-height: 48px; border-radius: 10px; }
.files .sticker { max-height: 128px; }
.files audio { width: 100%; }
.file { padding: 6px 12px; border: 1px solid var(--line); border-radius: 10px; text-align: start; overflow-wrap: anywhere; }
.card { display: flex; flex-direction: column; gap: 6px; max-width: 100%; margin-block-start: 8px; padding: 10px 12px;
  border: 1px solid var(--line); border-radius: 14px; background: var(--card); }
.card .note { margin: 0; }
.choices { display: flex; flex-wrap: wrap; gap: 8px; }
.choice { display: inline-flex; align-items: center; gap: 6px; min-height: 36px; padding: 6px 14px; border-radius: 10px;
  border: 1px solid var(--soft); overflow-wrap: anywhere; text-align: start; }
.choice:hover { background: var(--code); }
.choice.positive { border-color: transparent; background: var(--fill); color: var(--on-fill); }
.choice.negative { border-color: var(--bad); color: var(--bad); }
.choice svg { width: 1em; height: 1em; }
.closed .choice { cursor: default; border-color: var(--line); background: none; color: var(--soft); }
.closed .choice[data-chosen] { border-color: var(--focus); background: var(--code); color: var(--text); font-weight: 600; }
.brought, .tray { display: flex; flex-wrap: wrap; gap: 6px; margin: 0 0 6px; padding: 0; list-style: none; max-width: 100%; }
.brought li, .tray li { display: flex; align-items: center; gap: 8px; min-width: 0; max-width: 100%; margin: 0; padding: 5px 8px;
  border: 1px solid var(--line); border-radius: 12px; background: var(--card); font-size: 13.5px; line-height: 1.35; }
.brought canvas, .tray canvas { flex: none; height: 44px; max-width: 80px; object-fit: cover; border-radius: 7px; }
.sign { flex: none; color: var(--soft); }
.name { min-width: 0; overflow: hidden; text-overflow: ellipsis; }
.name bdi { overflow-wrap: anywhere; }
.note, .hint, .alert, .state, .bar span, .empty p { unicode-bidi: plaintext; }
.bubble:not([hidden]) + .brought { margin-block-start: 6px; }
.state { display: block; font-size: 12.5px; color: var(--soft); }
.tray .failed { border-color: var(--bad); } .tray .failed .state { color: var(--bad); }
progress { display: block; width: 120px; height: 6px; margin-block-start: 4px; accent-color: var(--link); }
.pictured { display: block; margin: .4em 0; }
.offer { display: block; min-height: 32px; margin-block-start: 4px; padding: 4px 12px; border: 1px solid var(--soft);
  border-radius: 10px; font-size: 14px; text-align: start; }
.offer:hover { background: var(--code); }
.pictured img { display: block; max-width: 100%; max-height: 60vh; margin-block-start: 4px; border-radius: 10px; }
.recorder { display: flex; align-items: center; gap: 8px; padding: 5px 5px 5px 16px; background: var(--card);
  border: 1px solid var(--bad); border-radius: 20px; }
.recorder .dot { background: var(--bad); animation: blink 1s steps(2, start) infinite; }
.time { flex: 1; font-variant-numeric: tabular-nums; color: var(--soft); }

.thinking .bubble { display: flex; gap: 5px; align-items: center; padding: 14px; }
.thinking .note { margin: 0; }
.thinking .note:empty { display: none; }
.thinking i { width: 7px; height: 7px; border-radius: 50%; background: var(--soft); animation: bob 1.1s infinite; }
.thinking i:nth-child(2) { animation-delay: .15s; }
.thinking i:nth-child(3) { animation-delay: .3s; }
@keyframes bob { 0%, 60%, 100% { transform: none; opacity: .5; } 30% { transform: translateY(-4px); opacity: 1; } }
.draft .bubble > :last-child:is(p, h3, h4, h5, h6)::after { content: ""; display: inline-block; width: .5em; height: 1em;
  margin-inline-start: 2px; vertical-align: -.15em; border-radius: 2px; background: var(--link);
  animation: blink 1s steps(2, start) infinite; }
@keyframes blink { to { visibility: hidden; } }
.down { position: absolute; inset-block-end: 10px; inset-inline-end: 16px; display: grid; place-items: center; width: 36px;
  height: 36px; border-radius: 50%; border: 1px solid var(--line); background: var(--card); }

.drawer { position: absolute; inset: 0; z-index: 1; overflow-y: auto; padding: 10px; background: var(--page); }
.drawer:focus { outline: none; }
.drawer h3 { margin: 4px 8px 8px; font-size: 13px; color: var(--soft); }
.entry { position: relative; display: flex; flex-wrap: wrap; align-items: center; border-radius: 10px; }
.entry:hover, .entry:focus-within { background: var(--code); }
.entry [data-session] { flex: 1; min-width: 0; padding: 9px 12px; border-radius: 10px; text-align: start; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; }
.entry:has([aria-current]) { background: var(--card); box-shadow: inset 0 0 0 1px var(--line); }
.entry [aria-current] { font-weight: 600; }
.sure { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; width: 100%; padding: 2px 12px 10px; font-size: 14px; }
.sure span { width: 100%; }
.drawer time { display: block; font-size: 12.5px; font-weight: 400; color: var(--soft); }

footer { padding: 8px 12px max(10px, env(safe-area-inset-bottom)); }
:host([mode="page"]) footer { padding-inline: max(16px, calc((100% - 46rem) / 2)); }
.alert { margin: 0 0 8px; padding: 6px 12px; border: 1px solid var(--bad); border-radius: 10px; color: var(--bad);
  font-size: 14px; }
form { display: flex; align-items: flex-end; gap: 6px; padding: 5px; background: var(--card);
  border: 1px solid var(--line); border-radius: 20px; }
form:focus-within { border-color: var(--focus); box-shadow: 0 0 0 1px var(--focus); }
textarea { flex: 1; min-width: 0; max-height: 30vh; padding: 6px 10px; border: 0; outline: none; resize: none;
  background: none; line-height: 1.5; font-size: 16px; }
textarea:focus-visible { outline: none; }
textarea::placeholder { color: var(--soft); opacity: 1; }
.round { flex: none; display: grid; place-items: center; width: 36px; height: 36px; border-radius: 50%;
  background: var(--fill); color: var(--on-fill); }
.round:disabled { background: var(--code); color: var(--soft); }
.round.stop { background: var(--code); color: var(--text); }
.round.stop svg { fill: currentColor; }
.hint { margin: 4px 10px 0; min-height: 1.3em; font-size: 12.5px; line-height: 1.3; color: var(--soft); }
.hint.over { color: var(--bad); }

@media (min-width: 900px) {
  :host([mode="page"]) .panel { padding-inline-start: 260px; }
  :host([mode="page"]) .drawer { inset-inline-end: auto; width: 260px; display: block !important;
    background: var(--card); border-inline-end: 1px solid var(--line); }
  :host([mode="page"]) .entry:has([aria-current]) { background: var(--page); }
  :host([mode="page"]) .tool.list { display: none; }
}
@media ${FULL_SCREEN} {
  :host(:not([mode="page"])[open]) { inset: 0 !important; }
  :host([open]) .panel { width: 100%; height: 100dvh; border: 0; border-radius: 0; }
  .hint:not(.over) { display: none; }
  header { padding-block-start: max(10px, env(safe-area-inset-top)); }
}
@media (prefers-reduced-motion: reduce) { *, *::after { animation: none !important; transition: none !important; } }
@media (forced-colors: active) { .bubble, .launcher, .round, .choice { border: 1px solid; } }
`;

let shared = null;

export function sheet() {
  if (!shared) {
    shared = new CSSStyleSheet();
    shared.replaceSync(CSS);
  }
  return shared;
}
