/** Animations of moves: a tile flies from its player, points fly to their tracks. */
import { hasReducedMotion } from "../../shared/appearance.js";
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { seatPanel } from "../panels/opponents.js";
import { ownTrack } from "../panels/score-tracks.js";
import { play } from "../panels/sound.js";
import { state } from "../state/store.js";
import { ownSeat } from "../state/view.js";
import { pyramidElement, tileElement, toScreen } from "./board.js";
import { pointsChip, tileImage } from "./shapes.js";

/** @import {PlaceEvent, PlacedTile, View} from "../net/protocol.js" */

/** All durations are in milliseconds. */
const TILE_FLIGHT = 260;
const POINTS_FLIGHT = 520;
/** Delay between the points of different tracks. */
const STAGGER = 90;
/** Pause after a move of another player. */
const MOVE_PAUSE = 650;

/** @param {number} duration */
export const pause = (duration) => new Promise((resolve) => setTimeout(resolve, duration));

/**
 * Animate a placement that has just been rendered.
 * @param {View} view
 * @param {PlaceEvent} event
 * @param {boolean} mine whether the tile was already shown while the move was being sent
 */
export async function showPlacement(view, event, mine) {
  const placed = view.tiles.findLast((tile) => tile.at.join() === event.at.join());
  if (!placed) return;
  if (hasReducedMotion()) {
    play("place");
    if (!mine) await pause(MOVE_PAUSE);
    return;
  }
  if (!mine) await flyTile(view, placed, event.p);
  play("place");
  tileElement(placed)?.firstElementChild?.animate({ scale: ["1.06", "1"] }, { duration: 140, easing: "ease-out" });
  if (event.pyramids?.length) raisePyramids(event.pyramids);
  await flyPoints(event, placed);
  if (!mine) await pause(MOVE_PAUSE);
}

/** @param {View} view @param {PlacedTile} placed @param {number} seat */
async function flyTile(view, placed, seat) {
  const from = (seatPanel(seat) ?? byId("own")).getBoundingClientRect();
  const to = toScreen(placed.x, placed.y);
  const [, , width] = view.board.shapes[view.board.hand].box;
  const pixels = toScreen(placed.x + width, placed.y).x - to.x;
  const tile = tileElement(placed);
  tile?.classList.add("arriving");
  const picture = tileImage(view.board, placed.shape, placed.tile);
  const flying = h("div", { class: "flying", style: { width: `${pixels}px` } }, picture);
  await fly(flying, { x: from.x + from.width / 2, y: from.y + from.height / 2 }, to, TILE_FLIGHT);
  tile?.classList.remove("arriving");
}

/** @param {string[]} cells */
function raisePyramids(cells) {
  for (const cell of cells) {
    const pyramid = pyramidElement(cell)?.firstElementChild;
    pyramid?.animate({ scale: ["0", "1.12", "1"] }, { duration: 420, easing: "ease-out" });
  }
}

/** @param {PlaceEvent} event @param {PlacedTile} placed */
async function flyPoints(event, placed) {
  const scored = Object.entries(event.gain).filter(([, n]) => n > 0);
  if (!scored.length) return;
  play("score");
  const from = toScreen(placed.x, placed.y);
  const own = ownSeat(state.view) === event.p;
  await Promise.all(
    scored.map(async ([track, n], index) => {
      const target = own ? ownTrack(track) : seatPanel(event.p, track);
      const box = target?.getBoundingClientRect();
      if (!target || !box?.width) return;
      await pause(index * STAGGER);
      const fraction = own ? Number(target.style.getPropertyValue("--score")) || 0 : 0.5;
      const to = { x: box.x + box.width * (0.08 + 0.74 * fraction), y: box.y + box.height / 2 };
      await fly(h("div", { class: "flying" }, pointsChip(track, `+${n}`)), from, to, POINTS_FLIGHT);
      target.animate({ filter: ["brightness(1.25)", "none"] }, { duration: 300 });
    }),
  );
}

/**
 * Move an element across the page, then remove it.
 * @param {HTMLElement} element
 * @param {{x: number, y: number}} from
 * @param {{x: number, y: number}} to
 * @param {number} duration
 */
async function fly(element, from, to, duration) {
  document.body.append(element);
  const frames = [from, to].map(({ x, y }) => ({ translate: `${x}px ${y}px` }));
  const flight = element.animate(frames, { duration, easing: "cubic-bezier(.3,.1,.2,1)", fill: "both" });
  // Background tabs do not animate, so never wait much longer than the animation takes.
  await Promise.race([flight.finished.catch(() => {}), pause(duration + 200)]);
  element.remove();
}

/** Show that a seat has won an extra turn. @param {string} text */
export async function showExtraTurn(text) {
  play("extra");
  const banner = byId("celebration");
  banner.replaceChildren(h("b", null, t("table.extra")), h("span", null, text));
  banner.hidden = false;
  banner.classList.remove("on");
  void banner.offsetWidth; // restarts its animation
  banner.classList.add("on");
  await pause(hasReducedMotion() ? 900 : 1100);
  banner.hidden = true;
}
