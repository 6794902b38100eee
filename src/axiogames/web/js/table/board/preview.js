/** Where the picked tile may go, the tile as it would lie there, and what it would score. */
import { byId, s } from "../../shared/dom.js";
import { points, tileAt } from "./shapes.js";
import { layers, onScreen, pyramidOn } from "./board.js";
import { newId } from "../net/connection.js";
import { ghost, shownPick, shownTurn } from "../input/selection.js";
import { onChoice, state } from "../state/store.js";
import { reveal } from "./zoom.js";

/** @import {Target, Turn} from "../state/model.js" */
/** @import {Order, Preview, Shape} from "../net/protocol.js" */

/** Asking is cheap, but not for every place the pointer passes. */
const SETTLED = 180;

/** @type {(order: Order) => void} */
let send = () => {};
/** @type {Turn | null} */
let marked = null;
let asking = 0;
/** @type {{id: string, pick: number} | null} */
let asked = null;

/** @param {(order: Order) => void} sender */
export function startGhost(sender) {
  send = sender;
  onChoice(draw);
}

function draw() {
  drawPlaces();
  drawGhost();
  drawPoints();
  askPreview();
}

function drawPlaces() {
  const { choice, options } = state;
  const turn = choice.tile !== null && !state.sending ? (options?.tiles[choice.tile][choice.turn] ?? null) : null;
  if (turn === marked) return;
  marked = turn;
  layers.places.replaceChildren(...(turn?.targets ?? []).map((target) => placeMark(target, turn)));
}

/**
 * A dash in the middle of the place, lying as the tile would; a dot for a tile as broad as long.
 * @param {Target} target
 * @param {Turn | null} turn
 */
function placeMark(target, turn) {
  const { x, y, name } = target;
  const [ax, ay, bx, by] = dash(state.view.board.shapes[turn?.shape ?? 0]);
  return s("path", { "data-place": name, d: `M${x + ax} ${y + ay}L${x + bx} ${y + by}` });
}

/** @param {Shape} shape @returns {[number, number, number, number]} */
function dash({ spots, box }) {
  if (Math.abs(box[2] - box[3]) < 10) return [0, 0, 0.1, 0];
  const [[x, y]] = spots;
  const short = 13 / Math.hypot(x, y);
  return [x * short, y * short, -x * short, -y * short];
}

function drawGhost() {
  const { choice, sending, view } = state;
  const turn = shownTurn();
  const held = ghost();
  const placed = sending?.placed;
  if (placed) {
    const tile = tileAt(view.board.shapes[placed.shape], placed.tile);
    layers.ghost.replaceChildren(s("g", { class: "sending", transform: `translate(${placed.x} ${placed.y})` }, tile));
  } else if (held && turn) {
    const { x, y, name } = held.target;
    const shape = view.board.shapes[turn.shape];
    const seen = state.preview?.pick === shownPick() ? state.preview.pyramids : [];
    layers.ghost.replaceChildren(
      ...seen.map(pyramidOn),
      s(
        "g",
        { class: choice.set ? "ghost set" : "ghost", transform: `translate(${x} ${y})`, "data-ghost": name },
        tileAt(shape, turn.letters),
        s("path", { class: "ghost-edge", d: shape.path }),
      ),
    );
    if (choice.set) reveal(held.target);
  } else {
    layers.ghost.replaceChildren();
  }
}

/** The points stand above the tile, where a finger does not hide them; below it at the upper edge. */
export function drawPoints() {
  const chips = byId("ghost-points");
  const { options, view } = state;
  const held = ghost();
  const turn = shownTurn();
  const pick = shownPick();
  chips.hidden = !held || !turn || pick === null || !options || Boolean(state.sending);
  if (chips.hidden || !held || !turn || pick === null || !options) return;
  const gain = options.moves.gain[pick];
  const scored = view.table.tracks.flatMap((track, index) => (gain[index] ? [points(track, `+${gain[index]}`)] : []));
  chips.replaceChildren(...(scored.length ? scored : ["+0"]));
  const room = /** @type {HTMLElement} */ (chips.offsetParent).getBoundingClientRect();
  const [, top, , tall] = view.board.shapes[turn.shape].box;
  const above = onScreen(held.target.x, held.target.y + top);
  const below = onScreen(held.target.x, held.target.y + top + tall);
  const size = chips.getBoundingClientRect();
  const high = above.y - room.y - size.height - 6;
  const left = Math.min(Math.max(above.x - room.x, size.width / 2 + 4), room.width - size.width / 2 - 4);
  chips.style.setProperty("left", `${left}px`);
  chips.style.setProperty("top", `${high > 2 ? high : Math.min(below.y - room.y + 8, room.height - size.height)}px`);
}

function askPreview() {
  const pick = state.sending ? null : shownPick();
  clearTimeout(asking);
  if (pick === null || pick === asked?.pick || !state.online) return;
  asking = window.setTimeout(() => {
    asked = { id: newId(), pick };
    send({ do: "preview", id: asked.id, n: state.view.n, pick });
  }, SETTLED);
}

/** Numbers of moves mean something else after every step. */
export function forgetPreview() {
  asked = null;
  state.preview = null;
}

/** @param {Preview} message */
export function receivePreview(message) {
  if (message.id !== asked?.id) return;
  state.preview = { pick: asked.pick, pyramids: message.pyramids, ends: message.ends };
  drawGhost();
}
