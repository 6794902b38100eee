/** Synthesized sounds. Browsers allow them only after the first click or key press. */
import { getSetting, onSetting, setSetting } from "../../shared/settings.js";

/**
 * The tones of each sound: frequency in Hz, start and duration in seconds, volume.
 * @type {Record<string, [number, number, number, number][]>}
 */
const SOUNDS = {
  place: [[190, 0, 0.07, 0.5], [95, 0.005, 0.1, 0.5]],
  score: [[660, 0, 0.09, 0.16], [880, 0.07, 0.14, 0.16]],
  turn: [[523, 0, 0.16, 0.14], [784, 0.11, 0.24, 0.14]],
  extra: [[523, 0, 0.12, 0.18], [659, 0.09, 0.12, 0.18], [784, 0.18, 0.12, 0.18], [1047, 0.27, 0.3, 0.18]],
  refused: [[180, 0, 0.14, 0.3], [150, 0.12, 0.2, 0.3]],
  end: [[392, 0, 0.2, 0.16], [494, 0.16, 0.2, 0.16], [587, 0.32, 0.2, 0.16], [784, 0.48, 0.5, 0.16]],
};

/** @type {AudioContext | null} */
let audio = null;

/** @param {(on: boolean) => void} onChange called at once and when the setting changes */
export function startSound(onChange) {
  const allow = () => {
    audio ??= new AudioContext();
    void audio.resume();
  };
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, allow, { once: true });
  onSetting("sound", onChange);
  onChange(getSetting("sound"));
}

export const toggleSound = () => setSetting("sound", !getSetting("sound"));

/** @param {keyof typeof SOUNDS} name */
export function play(name) {
  if (!audio || audio.state !== "running" || !getSetting("sound") || document.hidden) return;
  for (const [frequency, start, duration, volume] of SOUNDS[name]) {
    const from = audio.currentTime + start;
    const tone = audio.createOscillator();
    const envelope = audio.createGain();
    tone.type = frequency < 250 ? "triangle" : "sine";
    tone.frequency.value = frequency;
    envelope.gain.setValueAtTime(0.0001, from);
    envelope.gain.exponentialRampToValueAtTime(volume * 0.5, from + 0.008);
    envelope.gain.exponentialRampToValueAtTime(0.0001, from + duration);
    tone.connect(envelope).connect(audio.destination);
    tone.start(from);
    tone.stop(from + duration + 0.02);
  }
}
