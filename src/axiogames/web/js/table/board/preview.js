/** Preview of the selected tile: its targets, the tile on the hovered one, and the points that it would score. */
import { byId, s } from "../../shared/dom.js";
import { shownPick, shownPlacement, shownRotation } from "../input/selection.js";
import { newId, send } from "../net/connection.js";
import { onSelectionChange, state } from "../state/store.js";
import { layers, pyramidOn, toScreen } from "./board.js";
import { pointsChip, tileGroup } from "./shapes.js";
import { reveal } from "./zoom.js";

/** @import {Rotation, Target} from "../state/model.js" */
/** @import {Preview, Shape} from "../net/protocol.js" */

/** Milliseconds that the pointer must rest before a preview is requested. */
const PREVIEW_DELAY = 180;

/** The rotation whose targets are marked. @type {Rotation | null} */
let markedRotation = null;
let requestTimer = 0;
/** The last request for a preview. @type {{id: string, pick: number} | null} */
let requested = null;

export function startPreview() {
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
 * Build the mark of a target: a dash in the direction of the tile, or a dot if the tile is as wide as high.
 * @param {Target} target
 * @param {Rotation | null} rotation
 */
function targetMark(target, rotation) {
  const { x, y, name } = target;
  const [ax, ay, bx, by] = dash(state.view.board.shapes[rotation?.shape ?? 0]);
  return s("path", { "data-place": name, d: `M${x + ax} ${y + ay}L${x + bx} ${y + by}` });
}

/** Return the ends of a dash within a shape. @param {Shape} shape @returns {[number, number, number, number]} */
function dash({ spots, box }) {
  if (Math.abs(box[2] - box[3]) < 10) return [0, 0, 0.1, 0];
  const [[x, y]] = spots;
  const scale = 13 / Math.hypot(x, y);
  return [x * scale, y * scale, -x * scale, -y * scale];
}

function renderTile() {
  const { selection, sending, view } = state;
  const rotation = shownRotation();
  const placement = shownPlacement();
  const placed = sending?.placed;
  if (placed) {
    const tile = tileGroup(view.board.shapes[placed.shape], placed.tile);
    layers.preview.replaceChildren(s("g", { class: "sending", transform: `translate(${placed.x} ${placed.y})` }, tile));
  } else if (placement && rotation) {
    const { x, y, name } = placement.target;
    const shape = view.board.shapes[rotation.shape];
    const pyramids = state.preview?.pick === shownPick() ? state.preview.pyramids : [];
    layers.preview.replaceChildren(
      ...pyramids.map(pyramidOn),
      s(
        "g",
        {
          class: selection.pending ? "preview pending" : "preview",
          transform: `translate(${x} ${y})`,
          "data-preview": name,
        },
        tileGroup(shape, rotation.letters),
        s("path", { class: "preview-edge", d: shape.path }),
      ),
    );
    if (selection.pending) reveal(placement.target);
  } else {
    layers.preview.replaceChildren();
  }
}

/** Show the points above the tile, where no finger hides them, or below it if there is no space above. */
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
  const [, tileTop, , tileHeight] = view.board.shapes[rotation.shape].box;
  const above = toScreen(placement.target.x, placement.target.y + tileTop);
  const below = toScreen(placement.target.x, placement.target.y + tileTop + tileHeight);
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

/** Discard the preview, since pick numbers change with every step. */
export function clearPreview() {
  requested = null;
  state.preview = null;
}

/** Show the pyramids of the requested preview. @param {Preview} message */
export function receivePreview(message) {
  if (message.id !== requested?.id) return;
  state.preview = { pick: requested.pick, pyramids: message.pyramids, ends: message.ends };
  renderTile();
}
