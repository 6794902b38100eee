/** Preview of the selected tile: its legal targets, the tile at the hovered one, and the points it would score. */
import { byId, s } from "../../shared/dom.js";
import { pointsChip, tileAt } from "./shapes.js";
import { layers, toScreen, pyramidOn } from "./board.js";
import { newId } from "../net/connection.js";
import { shownPlacement, shownPick, shownRotation } from "../input/selection.js";
import { onSelectionChange, state } from "../state/store.js";
import { reveal } from "./zoom.js";

/** @import {Target, Rotation} from "../state/model.js" */
/** @import {Command, Preview, Shape} from "../net/protocol.js" */

/** Milliseconds that the pointer rests before the server is asked for a preview. */
const PREVIEW_DELAY = 180;

/** @type {(command: Command) => void} */
let send = () => {};
/** @type {Rotation | null} */
let markedRotation = null;
let requestTimer = 0;
/** @type {{id: string, pick: number} | null} */
let requested = null;

/** @param {(command: Command) => void} sender */
export function startPreview(sender) {
  send = sender;
  onSelectionChange(render);
}

function render() {
  renderTargets();
  renderTile();
  renderPoints();
  requestPreview();
}

function renderTargets() {
  const { selection, legal } = state;
  const rotation =
    selection.tile !== null && !state.sending ? (legal?.tiles[selection.tile][selection.rotation] ?? null) : null;
  if (rotation === markedRotation) return;
  markedRotation = rotation;
  layers.targets.replaceChildren(...(rotation?.targets ?? []).map((target) => targetMark(target, rotation)));
}

/**
 * The mark of a target: a dash in the direction of the tile, or a dot for a tile as wide as high.
 * @param {Target} target
 * @param {Rotation | null} rotation
 */
function targetMark(target, rotation) {
  const { x, y, name } = target;
  const [ax, ay, bx, by] = dash(state.view.board.shapes[rotation?.shape ?? 0]);
  return s("path", { "data-place": name, d: `M${x + ax} ${y + ay}L${x + bx} ${y + by}` });
}

/** @param {Shape} shape @returns {[number, number, number, number]} */
function dash({ spots, box }) {
  if (Math.abs(box[2] - box[3]) < 10) return [0, 0, 0.1, 0];
  const [[x, y]] = spots;
  const short = 13 / Math.hypot(x, y);
  return [x * short, y * short, -x * short, -y * short];
}

function renderTile() {
  const { selection, sending, view } = state;
  const rotation = shownRotation();
  const placement = shownPlacement();
  const placed = sending?.placed;
  if (placed) {
    const tile = tileAt(view.board.shapes[placed.shape], placed.tile);
    layers.preview.replaceChildren(s("g", { class: "sending", transform: `translate(${placed.x} ${placed.y})` }, tile));
  } else if (placement && rotation) {
    const { x, y, name } = placement.target;
    const shape = view.board.shapes[rotation.shape];
    const pyramids = state.preview?.pick === shownPick() ? state.preview.pyramids : [];
    layers.preview.replaceChildren(
      ...pyramids.map(pyramidOn),
      s(
        "g",
        { class: selection.pending ? "preview pending" : "preview", transform: `translate(${x} ${y})`, "data-preview": name },
        tileAt(shape, rotation.letters),
        s("path", { class: "preview-edge", d: shape.path }),
      ),
    );
    if (selection.pending) reveal(placement.target);
  } else {
    layers.preview.replaceChildren();
  }
}

/** Show the points above the tile, where a finger does not hide them, or below it at the upper edge. */
export function renderPoints() {
  const chips = byId("preview-points");
  const { legal, view } = state;
  const placement = shownPlacement();
  const rotation = shownRotation();
  const pick = shownPick();
  chips.hidden = !placement || !rotation || pick === null || !legal || Boolean(state.sending);
  if (chips.hidden || !placement || !rotation || pick === null || !legal) return;
  const gain = legal.moves.gain[pick];
  const scored = view.table.tracks.flatMap((track, index) =>
    gain[index] ? [pointsChip(track, `+${gain[index]}`)] : [],
  );
  chips.replaceChildren(...(scored.length ? scored : ["+0"]));
  const area = /** @type {HTMLElement} */ (chips.offsetParent).getBoundingClientRect();
  const [, edge, , tall] = view.board.shapes[rotation.shape].box;
  const above = toScreen(placement.target.x, placement.target.y + edge);
  const below = toScreen(placement.target.x, placement.target.y + edge + tall);
  const size = chips.getBoundingClientRect();
  const top = above.y - area.y - size.height - 6;
  const left = Math.min(Math.max(above.x - area.x, size.width / 2 + 4), area.width - size.width / 2 - 4);
  chips.style.setProperty("left", `${left}px`);
  chips.style.setProperty("top", `${top > 2 ? top : Math.min(below.y - area.y + 8, area.height - size.height)}px`);
}

function requestPreview() {
  const pick = state.sending ? null : shownPick();
  clearTimeout(requestTimer);
  if (pick === null || pick === requested?.pick || !state.online) return;
  requestTimer = window.setTimeout(() => {
    requested = { id: newId(), pick };
    send({ do: "preview", id: requested.id, n: state.view.n, pick });
  }, PREVIEW_DELAY);
}

/** Discard the preview. Pick numbers change with every step. */
export function clearPreview() {
  requested = null;
  state.preview = null;
}

/** @param {Preview} message */
export function receivePreview(message) {
  if (message.id !== requested?.id) return;
  state.preview = { pick: requested.pick, pyramids: message.pyramids, ends: message.ends };
  renderTile();
}
