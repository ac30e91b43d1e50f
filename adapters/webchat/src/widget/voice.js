// A voice message: recorded by the browser, and then a file like any other.

// Seconds after which a recording ends by itself.
const LONGEST = 300;
// In the order in which they are tried; the first is what most browsers write.
const TYPES = [["audio/webm;codecs=opus", "webm"], ["audio/ogg;codecs=opus", "ogg"], ["audio/mp4", "m4a"]];

// Browsers offer the microphone to pages that came over a safe connection only.
export const canRecord = () => Boolean(navigator.mediaDevices?.getUserMedia && globalThis.MediaRecorder);

export class Recording {
  // `ticked` is called each second with the seconds so far, `ended` once, with a file or null.
  constructor({ name, ticked, ended }) { Object.assign(this, { name, ticked, ended, seconds: 0 }); }

  // Fails if the visitor or the page lets nobody record. Says whether it listens: while the visitor is asked it may have
  // been ended.
  async start() {
    this.stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    if (this.over) {
      this.release();
      return false;
    }
    const [type, ending] = TYPES.find(([it]) => MediaRecorder.isTypeSupported(it)) ?? ["", "webm"];
    const pieces = [];
    this.recorder = new MediaRecorder(this.stream, type ? { mimeType: type } : {});
    this.recorder.addEventListener("dataavailable", ({ data }) => { if (data.size) pieces.push(data); });
    this.recorder.addEventListener("stop", () => {
      this.release();
      const kept = this.kept && pieces.length > 0;
      this.ended(kept ? new File(pieces, `${this.name}.${ending}`, { type: type.split(";")[0] || "audio/webm" }) : null);
    });
    this.recorder.start(1000);
    this.timer = setInterval(() => {
      this.ticked(++this.seconds);
      if (this.seconds >= LONGEST) this.finish();
    }, 1000);
    return true;
  }

  finish() { this.stop(true); }
  discard() { this.stop(false); }

  stop(kept) {
    this.over = true;
    if (this.recorder?.state !== "recording") return;
    this.kept = kept;
    this.recorder.stop();
  }

  // The sign that the browser shows while it listens goes with the tracks.
  release() {
    clearInterval(this.timer);
    for (const track of this.stream?.getTracks() ?? []) track.stop();
  }
}
