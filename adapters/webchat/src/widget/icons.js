// The few drawings of the element, as paths of a 24 by 24 grid. Decoration only: buttons have names of their own.

const PATHS = {
  chat: "M5 4h14a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3h-7l-5 4v-4H5a3 3 0 0 1-3-3V7a3 3 0 0 1 3-3z M8 9.5h8 M8 13h5",
  close: "M6 6l12 12 M18 6L6 18",
  list: "M4 6h16 M4 12h16 M4 18h10",
  fresh: "M12 5v14 M5 12h14",
  send: "M12 19V5 M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  down: "M12 5v14 M6 13l6 6 6-6",
  copy: "M9 9h10v11H9z M15 9V4H5v11h4",
  check: "M5 12.5l5 5L19 7",
  edit: "M4 20l1-4L16 5l3 3L8 19z",
  attach: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7l-8.3 8.2a1.7 1.7 0 0 1-2.4-2.4l7.6-7.5",
  mic: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3z M5 11a7 7 0 0 0 14 0 M12 18v3",
  file: "M6 3h8l5 5v13H6z M14 3v5h5",
  erase: "M4 7h16 M9 7V4h6v3 M6 7l1 13h10l1-13",
  retry: "M19 12a7 7 0 1 1-2-5 M19 3v5h-5",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
