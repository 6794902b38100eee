/** Animations of moves: a tile flies from its player, points fly to their tracks. */
import { hasReducedMotion } from "../../shared/appearance.js";
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { pointsChip, tileImage } from "./shapes.js";
import { tileElement, toScreen, pyramidElement } from "./board.js";
import { ownSeat } from "../state/view.js";
import { seatPanel } from "../panels/opponents.js";
import { play } from "../panels/sound.js";
import { state } from "../state/store.js";
import { ownTrack } from "../panels/score-tracks.js";

/** @import {PlaceEvent, PlacedTile, View} from "../net/protocol.js" */

const LAND_DURATION = 260;
const FLIGHT_DURATION = 520;
const STAGGER = 90;
/** Milliseconds between a move of another player and the next one. */
const MOVE_PAUSE = 650;

/** @param {number} time in milliseconds */
export const pause = (time) => new Promise((done) => setTimeout(done, time));

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
  tile?.classList.add("coming");
  const picture = tileImage(view.board, placed.shape, placed.tile);
  const flying = h("div", { class: "flying", style: { width: `${pixels}px` } }, picture);
  await fly(flying, { x: from.x + from.width / 2, y: from.y + from.height / 2 }, to, LAND_DURATION);
  tile?.classList.remove("coming");
}

/** @param {string[]} cells */
function raisePyramids(cells) {
  for (const cell of cells) {
    const mark = pyramidElement(cell)?.firstElementChild;
    mark?.animate({ scale: ["0", "1.12", "1"] }, { duration: 420, easing: "ease-out" });
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
      const goal = own ? ownTrack(track) : seatPanel(event.p, track);
      const box = goal?.getBoundingClientRect();
      if (!goal || !box?.width) return;
      await pause(index * STAGGER);
      const share = own ? Number(goal.style.getPropertyValue("--at")) || 0 : 0.5;
      const to = { x: box.x + box.width * (0.08 + 0.74 * share), y: box.y + box.height / 2 };
      await fly(h("div", { class: "flying" }, pointsChip(track, `+${n}`)), from, to, FLIGHT_DURATION);
      goal.animate({ filter: ["brightness(1.25)", "none"] }, { duration: 300 });
    }),
  );
}

/**
 * @param {HTMLElement} thing
 * @param {{x: number, y: number}} from
 * @param {{x: number, y: number}} to
 * @param {number} duration
 */
async function fly(thing, from, to, duration) {
  document.body.append(thing);
  const frames = [from, to].map(({ x, y }) => ({ translate: `${x}px ${y}px` }));
  const flight = thing.animate(frames, { duration, easing: "cubic-bezier(.3,.1,.2,1)", fill: "both" });
  // Background tabs do not animate; never wait for longer than the animation.
  await Promise.race([flight.finished.catch(() => {}), pause(duration + 200)]);
  thing.remove();
}

/** Show that a seat has won an extra turn. @param {string} words */
export async function showExtraTurn(words) {
  play("extra");
  const banner = byId("celebration");
  banner.replaceChildren(h("b", null, t("table.extra")), h("span", null, words));
  banner.hidden = false;
  banner.classList.remove("on");
  void banner.offsetWidth; // restarts the animation
  banner.classList.add("on");
  await pause(hasReducedMotion() ? 900 : 1100);
  banner.hidden = true;
}
