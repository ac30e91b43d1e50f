// Files on their way to the gateway: what may be sent, one request each with its progress, and a small picture of it.
// It knows the route and no element of the panel.

export const MOST_FILES = 10;

const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const HEIGHT = 96;

// The largest file of this kind that the site takes, in bytes. What it really is the gateway sees from its content.
export function limit(file, limits) {
  const [kind] = file.type.split("/");
  return limits?.[kind] ?? limits?.file ?? 0;
}

// Sends a file; `progress` hears of the part that is there. Gives the answer, or fails with `{ code, limit }`.
export function upload(file, { address, credential, session }, progress) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* a proxy's own page */ }
      if (request.status === 200 && answer.file) resolve(answer);
      else reject({ code: answer.error ?? "network", limit: answer.limit });
    });
    for (const name of ["error", "abort", "timeout"]) request.addEventListener(name, () => reject({ code: name }));
  });
  request.open("POST", address);
  request.setRequestHeader("Authorization", `Bearer ${credential}`);
  request.setRequestHeader("X-Session", session);
  request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
  return { done, abort: () => request.abort() };
}

// A picture is drawn, not linked: so no policy of the page has to allow an address for it.
export async function thumbnail(file) {
  if (!PICTURES.test(file.type)) return null;
  try {
    const picture = await createImageBitmap(file, { resizeHeight: HEIGHT, resizeQuality: "medium" });
    const canvas = document.createElement("canvas");
    canvas.width = picture.width;
    canvas.height = picture.height;
    canvas.setAttribute("aria-hidden", "true");
    canvas.getContext("2d").drawImage(picture, 0, 0);
    picture.close();
    return canvas;
  } catch { return null; }
}

// A size for people, such as 1.4 MB.
export function readable(bytes, language) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const form = { style: "unit", unit: units[power], unitDisplay: power ? "short" : "long", maximumFractionDigits: 1 };
  return new Intl.NumberFormat(language, form).format(bytes / 1024 ** power);
}
