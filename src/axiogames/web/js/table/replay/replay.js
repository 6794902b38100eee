/** Going through a finished game, with all hands open. */
import { explain, get } from "../../shared/api.js";
import { isDark } from "../../shared/appearance.js";
import { byId } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { announce, copy, toast } from "../../shared/toast.js";
import { showPlacement } from "../board/animation.js";
import { reset } from "../input/selection.js";
import { after, countMoves, isMove } from "../state/view.js";
import { onView, state, viewChanged } from "../state/store.js";
import { eventWords } from "../text.js";

/** @import {Step, View} from "../net/protocol.js" */

/** Milliseconds for a move, by the choice of the speed. */
const PACES = [2400, 1300, 600];

let playing = 0;

const scrubber = () => /** @type {HTMLInputElement} */ (byId("scrubber"));
const pace = () => /** @type {HTMLSelectElement} */ (byId("pace"));

export function startReplay() {
  scrubber().addEventListener("input", () => go(Number(scrubber().value)));
  byId("replay-back").addEventListener("click", () => move(-1));
  byId("replay-on").addEventListener("click", () => move(1));
  byId("replay-play").addEventListener("click", toggle);
  byId("replay-close").addEventListener("click", close);
  byId("replay-link").addEventListener("click", () => {
    void copy(new URL(`${location.pathname}?move=${state.replay?.at ?? 0}`, location.href).href);
  });
  pace().addEventListener("change", () => playing && play());
  onView(draw);
}

/** @param {number} [move] */
export async function openReplay(move = 0) {
  /** @type {{view: View, steps: Step[]}} */
  let told;
  try {
    told = await get(`/api/tables/${state.view.table.id}/replay`);
  } catch (error) {
    return toast(explain(error), { kind: "error" });
  }
  const positions = [told.view];
  for (const step of told.steps) {
    const before = /** @type {View} */ (positions.at(-1));
    const next = { ...after(before, step), seats: told.view.seats };
    // What is drawn after a move belongs to the position that the move has led to.
    if (step.events.some(isMove)) positions.push(next);
    else positions[positions.length - 1] = next;
  }
  state.replay = { positions, at: -1, live: state.view };
  state.options = null;
  reset();
  go(Math.min(move, positions.length - 1));
  scrubber().focus();
}

/** @param {number} at */
export function go(at) {
  const { replay } = state;
  if (!replay) return;
  const to = Math.min(Math.max(at, 0), replay.positions.length - 1);
  const forward = to === replay.at + 1 && replay.at >= 0;
  replay.at = to;
  state.view = replay.positions[to];
  viewChanged();
  const event = state.view.events.findLast(isMove);
  if (!event || to === 0) return;
  announce(eventWords(state.view, event));
  if (forward && event.t === "place") void showPlacement(state.view, event, true);
}

/** @param {number} by */
const move = (by) => go((state.replay?.at ?? 0) + by);

function toggle() {
  if (playing) return stop();
  if (state.replay && state.replay.at === state.replay.positions.length - 1) go(0);
  play();
}

function play() {
  clearTimeout(playing);
  playing = window.setTimeout(() => {
    move(1);
    if (state.replay && state.replay.at < state.replay.positions.length - 1) play();
    else stop();
  }, PACES[pace().selectedIndex]);
  drawPlay();
}

function stop() {
  clearTimeout(playing);
  playing = 0;
  drawPlay();
}

function close() {
  stop();
  if (!state.replay) return;
  state.view = state.replay.live;
  state.replay = null;
  viewChanged();
}

/** @param {string} key @returns {boolean} whether it was one for the replay */
export function replayKey(key) {
  /** @type {Record<string, () => void>} */
  const does = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    Home: () => go(0),
    End: () => go(Infinity),
    " ": toggle,
    Escape: close,
  };
  does[key]?.();
  return key in does;
}

function drawPlay() {
  byId("replay-play").classList.toggle("on", playing !== 0);
  byId("replay-play").setAttribute("aria-label", t(playing ? "table.stop" : "table.play"));
}

function draw() {
  const { replay, view } = state;
  byId("replay-bar").hidden = !replay;
  document.body.classList.toggle("replaying", replay !== null);
  if (!replay) return;
  const moves = replay.positions.length - 1;
  scrubber().max = String(moves);
  scrubber().value = String(replay.at);
  scrubber().setAttribute("aria-valuetext", t("table.replay_at", { move: replay.at, moves }));
  for (const kind of ["svg", "png"]) {
    const path = `/api/tables/${view.table.id}/picture.${kind}?move=${countMoves(view)}&dark=${isDark()}`;
    byId(`picture-${kind}`).setAttribute("href", path);
  }
}
