/** The table page: everything is put together here. */
import { ApiError, explain, forgetMe, get, look, me, onConnection } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { frame, setTitle } from "../shared/frame.js";
import { t } from "../shared/i18n.js";
import { toast } from "../shared/toast.js";
import { startActions } from "./input/buttons.js";
import { installSymbols } from "./board/shapes.js";
import { startBoard } from "./board/board.js";
import { dismiss, notice, startCoach } from "./panels/tips.js";
import { connect, newId } from "./net/connection.js";
import { drawCurtain, startCurtain } from "./panels/handover.js";
import { drawPoints, startGhost } from "./board/preview.js";
import { startHand } from "./panels/hand.js";
import { startKeys } from "./input/keyboard.js";
import { startLog, toggleLog } from "./panels/history.js";
import { ghost, startPlacing } from "./input/selection.js";
import { startPointer } from "./input/pointer.js";
import { isWaiting, mayMove, replaced } from "./state/view.js";
import { startPrompt } from "./panels/status.js";
import { go, openReplay, replayKey, startReplay } from "./replay/replay.js";
import { showResult, startResult } from "./panels/result.js";
import { ask } from "./net/requests.js";
import { startSeats } from "./panels/opponents.js";
import { mute, play, startSound } from "./panels/sound.js";
import { onView, state } from "./state/store.js";
import { heard, receive, startTimeline } from "./net/messages.js";
import { startTracks } from "./panels/score-tracks.js";
import { startZoom } from "./board/zoom.js";

/** @import {Order, View} from "./net/protocol.js" */

const SIGNED_OUT = 4401;
const BANNED = 4403;
const NO_SUCH_TABLE = 4404;
const UNREADABLE = 4409;
const A_MOMENT = 500;
const id = location.pathname.split("/")[2] ?? "";
const wanted = new URLSearchParams(location.search).get("move");

async function open() {
  await frame();
  setTitle(t("table.title"));
  try {
    const [view, art] = await Promise.all([get(`/api/tables/${encodeURIComponent(id)}`), look()]);
    installSymbols(art);
    start(view);
  } catch (error) {
    showLost(error);
  }
}

/** There is nothing to show, or not yet. @param {unknown} error */
function showLost(error) {
  const unknown = error instanceof ApiError && error.status === 404;
  byId("lost-title").textContent = t(unknown ? "missing.title" : "table.not_loaded");
  byId("lost-why").textContent = unknown ? t("missing.why") : explain(error);
  byId("again").hidden = unknown;
  byId("again").addEventListener("click", () => location.reload());
  byId("play").hidden = true;
  byId("lost").hidden = false;
  if (!unknown) onConnection((up) => up && location.reload());
}

/** @param {View} view */
function start(view) {
  let whole = false;
  const send = (/** @type {Order} */ order) => void connection.send(order);
  const hint = () => {
    const { n, table } = state.view;
    if (mayMove(state.view) && table.hints) send({ do: "hint", id: newId(), n });
  };

  startBoard();
  startZoom({
    moved: () => state.view && drawPoints(),
    focus: () => ghost()?.target ?? state.view.tiles.at(-1) ?? null,
  });
  startSeats();
  startTracks();
  startHand();
  startPointer();
  startGhost(send);
  startPrompt();
  startActions(hint);
  startLog((move) => go(move));
  startCurtain(send);
  startReplay();
  const review = later(async () => (await import("./replay/review.js")).openReview());
  startResult(() => void openReplay(), review);
  byId("review").addEventListener("click", review);
  byId("menu-button").addEventListener("click", later(async () => (await import("./panels/menu.js")).openMenu(openReplay)));
  startKeys({ hint, log: toggleLog, mute, replay: replayKey });
  startSound((on) => byId("mute").setAttribute("aria-pressed", String(!on)));
  byId("mute").addEventListener("click", mute);
  byId("return").addEventListener("click", () => void ask(`seats/${replaced(state.view)}/return`));
  startPlacing(send);
  onView(drawPage);
  startTimeline({ resync: () => ((whole = true), connection.reopen()), shown });
  receive(view);
  void startCoach();

  const connection = connect(id, {
    seen: () => (whole ? ((whole = false), null) : heard()),
    receive,
    online(yes) {
      state.online = yes;
      byId("connection").hidden = yes;
    },
    closed(code) {
      if (code === NO_SUCH_TABLE) showLost(new ApiError(404, "", ""));
      if (code === UNREADABLE) showLost(new ApiError(409, "unreadable", ""));
      if (code === SIGNED_OUT || code === BANNED) void whoAmI(() => connection.reopen());
      return ![NO_SUCH_TABLE, UNREADABLE, SIGNED_OUT, BANNED].includes(code);
    },
  });
  addEventListener("pagehide", () => connection.stop());
  addEventListener("pageshow", (event) => event.persisted && connection.reopen());
}

/**
 * Our session has ended. This browser may get a new one in a moment, if another page of it has just changed the
 * password: then it goes on.
 * @param {() => void} goOn
 */
async function whoAmI(goOn, tries = 4) {
  try {
    const { id: before } = await me();
    for (let left = tries; ; left--) {
      forgetMe();
      const now = await me().catch((error) => (error.code === "signed_out" && left > 1 ? null : Promise.reject(error)));
      if (now?.id === before) return goOn();
      if (now) throw new ApiError(401, "signed_out", "");
      await new Promise((resolve) => setTimeout(resolve, A_MOMENT));
    }
  } catch (error) {
    showLost(error);
  }
}

/** What needs a file that is not loaded yet. @param {() => Promise<void>} does */
const later = (does) => () => void does().catch((error) => toast(explain(error), { kind: "error" }));

/** All that has happened can be seen now. @param {View | null} before */
function shown(before) {
  drawCurtain();
  notice(before);
  if (state.view.table.status !== "over" || state.replay) return;
  if (before === null && wanted !== null) return void openReplay(Number(wanted));
  if (before?.table.status === "playing") {
    play("end");
    void showResult();
  }
}

let lobbyStarted = false;

const loadLobby = later(async () => {
  const { startLobby } = await import("./panels/lobby.js");
  if (lobbyStarted) return;
  lobbyStarted = true;
  startLobby();
});

function drawPage() {
  const { view } = state;
  const { table } = view;
  const waiting = isWaiting(view);
  byId("room").hidden = !waiting;
  byId("play").hidden = waiting;
  if (waiting && !lobbyStarted) loadLobby();
  byId("title").textContent = table.name;
  byId("return").hidden = replaced(view) === null;
  byId("board").setAttribute("aria-label", t("table.board_label", { name: view.board.title }));
  document.body.dataset.status = table.status;
  document.body.classList.toggle("watching", view.yours.length === 0);
  setTitle(mayMove(view) ? t("table.title_turn", { game: table.name }) : table.name);
}

// A card that explains something is closed first; the hand keeps what it holds.
addEventListener("keydown", (event) => event.key === "Escape" && dismiss() && event.preventDefault(), true);

void open();
