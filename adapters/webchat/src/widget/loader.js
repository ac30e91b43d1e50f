// What a site owner pastes: <script src="https://HOST/widget.js" data-site="KEY" async></script>
// It puts the chat element on the page and offers `Weirgate`, whose calls wait until the element is there.
// It sets one global name, adds one element, and touches nothing else of the page.
(() => {
  const script = document.currentScript ?? document.querySelector("script[src$='/widget.js']");
  const element = document.createElement("weirgate-chat");
  for (const { name, value } of script.attributes) {
    if (name.startsWith("data-")) element.setAttribute(name.slice(5), value);
  }
  const place = () => document.body.append(element);
  const ready = import(new URL("widget/element.js", script.src).href).then(() => {
    if (document.body) place();
    else addEventListener("DOMContentLoaded", place, { once: true });
    return element;
  });
  const call = (name) => (...given) => ready.then((chat) => chat[name](...given));
  const on = (event, listener) => {
    const heard = (told) => listener(told.detail);
    element.addEventListener(event, heard);
    return () => element.removeEventListener(event, heard);
  };
  window.Weirgate = {
    open: call("open"), close: call("close"), toggle: call("toggle"), send: call("send"),
    identify: call("identify"), on, element,
  };
})();
