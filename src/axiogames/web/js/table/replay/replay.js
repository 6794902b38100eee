/** The replay of a finished game, with open hands. */
import { errorText, get } from "../../shared/api.js";
import { isDark } from "../../shared/appearance.js";
import { byId } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { announce, copyText, toast } from "../../shared/toast.js";
import { importLocal, isLocalTable } from "../../local/ids.js";
import { showPlacement } from "../board/animation.js";
import { resetSelection } from "../input/selection.js";
import { notifyView, onViewChange, state } from "../state/store.js";
import { applyStep, countMoves, isMove } from "../state/view.js";
import { eventText } from "../text.js";

/** @import {Step, View} from "../net/protocol.js" */

/** Milliseconds between moves, by the selected speed. */
const MOVE_DELAYS = [2400, 1300, 600];

/** Timer of the next move while the replay plays, else 0. */
let playTimer = 0;

const scrubber = () => /** @type {HTMLInputElement} */ (byId("scrubber"));
const speed = () => /** @type {HTMLSelectElement} */ (byId("replay-speed"));

export function startReplay() {
  scrubber().addEventListener("input", () => goTo(Number(scrubber().value)));
  byId("replay-back").addEventListener("click", () => goBy(-1));
  byId("replay-forward").addEventListener("click", () => goBy(1));
  byId("replay-play").addEventListener("click", togglePlayback);
  byId("replay-close").addEventListener("click", close);
  byId("replay-link").addEventListener("click", () => {
    void copyText(new URL(`${location.pathname}?move=${state.replay?.at ?? 0}`, location.href).href);
  });
  speed().addEventListener("change", () => playTimer && play());
  onViewChange(render);
}

/** Load the replay and show the position after a move. @param {number} [move] */
export async function openReplay(move = 0) {
  /** @type {{view: View, steps: Step[]}} */
  let response;
  try {
    const { id } = state.view.table;
    response = await (isLocalTable(id) ? importLocal().then(({ localReplay }) => localReplay()) : get(`/api/tables/${id}/replay`));
  } catch (error) {
    return toast(errorText(error), { kind: "error" });
  }
  const positions = [response.view];
  for (const step of response.steps) {
    const before = /** @type {View} */ (positions.at(-1));
    const next = { ...applyStep(before, step), seats: response.view.seats };
    // Tiles drawn after a move belong to the position after that move.
    if (step.events.some(isMove)) positions.push(next);
    else positions[positions.length - 1] = next;
  }
  state.replay = { positions, at: -1, live: state.view };
  state.legal = null;
  resetSelection();
  goTo(Math.min(move, positions.length - 1));
  scrubber().focus();
}

/** Show the position after a move. @param {number} move */
export function goTo(move) {
  const { replay } = state;
  if (!replay) return;
  const index = Math.min(Math.max(move, 0), replay.positions.length - 1);
  const forward = index === replay.at + 1 && replay.at >= 0;
  replay.at = index;
  state.view = replay.positions[index];
  notifyView();
  const event = state.view.events.findLast(isMove);
  if (!event || index === 0) return;
  announce(eventText(state.view, event));
  if (forward && event.t === "place") void showPlacement(state.view, event, true);
}

/** @param {number} moves */
const goBy = (moves) => goTo((state.replay?.at ?? 0) + moves);

function togglePlayback() {
  if (playTimer) return stop();
  if (state.replay && state.replay.at === state.replay.positions.length - 1) goTo(0);
  play();
}

function play() {
  clearTimeout(playTimer);
  playTimer = window.setTimeout(() => {
    goBy(1);
    if (state.replay && state.replay.at < state.replay.positions.length - 1) play();
    else stop();
  }, MOVE_DELAYS[speed().selectedIndex]);
  renderPlayButton();
}

function stop() {
  clearTimeout(playTimer);
  playTimer = 0;
  renderPlayButton();
}

function close() {
  stop();
  if (!state.replay) return;
  state.view = state.replay.live;
  state.replay = null;
  notifyView();
}

/** Handle a key during a replay. @param {string} key @returns {boolean} whether the key has been handled */
export function handleReplayKey(key) {
  /** @type {Record<string, () => void>} */
  const actions = {
    ArrowLeft: () => goBy(-1),
    ArrowRight: () => goBy(1),
    Home: () => goTo(0),
    End: () => goTo(Infinity),
    " ": togglePlayback,
    Escape: close,
  };
  actions[key]?.();
  return key in actions;
}

function renderPlayButton() {
  byId("replay-play").classList.toggle("on", playTimer !== 0);
  byId("replay-play").setAttribute("aria-label", t(playTimer ? "table.stop" : "table.play"));
}

function render() {
  const { replay, view } = state;
  byId("replay-bar").hidden = !replay;
  document.body.classList.toggle("replaying", replay !== null);
  if (!replay) return;
  const moves = replay.positions.length - 1;
  scrubber().max = String(moves);
  scrubber().value = String(replay.at);
  scrubber().setAttribute("aria-valuetext", t("table.replay_at", { move: replay.at, moves }));
  for (const kind of ["svg", "png"]) {
    byId(`picture-${kind}`).hidden = isLocalTable(view.table.id);
    const path = `/api/tables/${view.table.id}/picture.${kind}?move=${countMoves(view)}&dark=${isDark()}`;
    byId(`picture-${kind}`).setAttribute("href", path);
  }
}
