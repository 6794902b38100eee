/** Entry point of the table page. */
import { ApiError, errorText, invalidateMe, get, getArtwork, getMe, onConnectionChange } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { initPage, setTitle } from "../shared/frame.js";
import { t } from "../shared/i18n.js";
import { toast } from "../shared/toast.js";
import { startButtons } from "./input/buttons.js";
import { defineSymbols } from "./board/shapes.js";
import { startBoard } from "./board/board.js";
import { connect, newId } from "./net/connection.js";
import { renderHandover, startHandover } from "./panels/handover.js";
import { renderPoints, startPreview } from "./board/preview.js";
import { startHand } from "./panels/hand.js";
import { startKeyboard } from "./input/keyboard.js";
import { startHistory, toggleHistory } from "./panels/history.js";
import { shownPlacement, startSelection } from "./input/selection.js";
import { startPointer } from "./input/pointer.js";
import { isWaiting, canMove, seatPlayedByBot } from "./state/view.js";
import { startStatus } from "./panels/status.js";
import { goTo, openReplay, replayKey, startReplay } from "./replay/replay.js";
import { showResult, startResult } from "./panels/result.js";
import { postToTable } from "./net/requests.js";
import { startOpponents } from "./panels/opponents.js";
import { toggleSound, play, startSound } from "./panels/sound.js";
import { onViewChange, state } from "./state/store.js";
import { lastReceived, receive, startMessages } from "./net/messages.js";
import { startScoreTracks } from "./panels/score-tracks.js";
import { startZoom } from "./board/zoom.js";

/** @import {Command, View} from "./net/protocol.js" */

const SIGNED_OUT = 4401;
const BANNED = 4403;
const NO_SUCH_TABLE = 4404;
const UNREADABLE = 4409;
const SIGN_IN_RETRY = 500;
const id = location.pathname.split("/")[2] ?? "";
const requestedMove = new URLSearchParams(location.search).get("move");

/** @type {typeof import("./panels/tips.js") | null} */
let tips = null;

async function open() {
  await initPage();
  setTitle(t("table.title"));
  try {
    const [view, art] = await Promise.all([get(`/api/tables/${encodeURIComponent(id)}`), getArtwork()]);
    defineSymbols(art);
    start(view);
  } catch (error) {
    showLost(error);
  }
}

/** Show that the table does not exist or could not be loaded. @param {unknown} error */
function showLost(error) {
  const unknown = error instanceof ApiError && error.status === 404;
  byId("load-error-title").textContent = t(unknown ? "missing.title" : "table.not_loaded");
  byId("load-error-why").textContent = unknown ? t("missing.why") : errorText(error);
  byId("again").hidden = unknown;
  byId("again").addEventListener("click", () => location.reload());
  byId("play").hidden = true;
  byId("load-error").hidden = false;
  if (!unknown) onConnectionChange((up) => up && location.reload());
}

/** @param {View} view */
function start(view) {
  let needsView = false;
  const send = (/** @type {Command} */ order) => void connection.send(order);
  const hint = () => {
    const { n, table } = state.view;
    if (canMove(state.view) && table.hints) send({ do: "hint", id: newId(), n });
  };

  startBoard();
  startZoom({
    moved: () => state.view && renderPoints(),
    focus: () => shownPlacement()?.target ?? state.view.tiles.at(-1) ?? null,
  });
  startOpponents();
  startScoreTracks();
  startHand();
  startPointer();
  startPreview(send);
  startStatus();
  startButtons(hint);
  startHistory((move) => goTo(move));
  startHandover(send);
  startReplay();
  const review = lazily(async () => (await import("./replay/review.js")).openReview());
  startResult(() => void openReplay(), review);
  byId("review").addEventListener("click", review);
  byId("menu-button").addEventListener(
    "click",
    lazily(async () => (await import("./panels/menu.js")).openMenu(openReplay)),
  );
  startKeyboard({ hint, log: toggleHistory, mute: toggleSound, replay: replayKey });
  startSound((on) => byId("mute").setAttribute("aria-pressed", String(!on)));
  byId("mute").addEventListener("click", toggleSound);
  byId("return").addEventListener("click", () => void postToTable(`seats/${seatPlayedByBot(state.view)}/return`));
  startSelection(send);
  onViewChange(renderPage);
  startMessages({ resync: () => ((needsView = true), connection.reopen()), shown: onShown });
  receive(view);
  void import("./panels/tips.js").then(
    (module) => {
      tips = module;
      void module.startTips();
    },
    () => {},
  ); // The game can be played without tips.

  const connection = connect(id, {
    seen: () => (needsView ? ((needsView = false), null) : lastReceived()),
    receive,
    online(yes) {
      state.online = yes;
      byId("connection").hidden = yes;
    },
    closed(code) {
      if (code === NO_SUCH_TABLE) showLost(new ApiError(404, "", ""));
      if (code === UNREADABLE) showLost(new ApiError(409, "unreadable", ""));
      if (code === SIGNED_OUT || code === BANNED) void checkIdentity(() => connection.reopen());
      return ![NO_SUCH_TABLE, UNREADABLE, SIGNED_OUT, BANNED].includes(code);
    },
  });
  addEventListener("pagehide", () => connection.stop());
  addEventListener("pageshow", (event) => event.persisted && connection.reopen());
}

/**
 * Handle a session that has ended. This browser may get a new one in a moment, if another page of it has just changed
 * the password: then resume.
 * @param {() => void} resume
 */
async function checkIdentity(resume, tries = 4) {
  try {
    const { id: before } = await getMe();
    for (let left = tries; ; left--) {
      invalidateMe();
      const now = await getMe().catch((error) =>
        error.code === "signed_out" && left > 1 ? null : Promise.reject(error),
      );
      if (now?.id === before) return resume();
      if (now) throw new ApiError(401, "signed_out", "");
      await new Promise((resolve) => setTimeout(resolve, SIGN_IN_RETRY));
    }
  } catch (error) {
    showLost(error);
  }
}

/** Wrap a function that loads a module on demand. @param {() => Promise<void>} does */
const lazily = (does) => () => void does().catch((error) => toast(errorText(error), { kind: "error" }));

/** Called when all received steps have been rendered. @param {View | null} before */
function onShown(before) {
  renderHandover();
  tips?.updateTips(before);
  if (state.view.table.status !== "over" || state.replay) return;
  if (before === null && requestedMove !== null) return void openReplay(Number(requestedMove));
  if (before?.table.status === "playing") {
    play("end");
    void showResult();
  }
}

let lobbyStarted = false;

const loadLobby = lazily(async () => {
  const { startLobby } = await import("./panels/lobby.js");
  if (lobbyStarted) return;
  lobbyStarted = true;
  startLobby();
});

function renderPage() {
  const { view } = state;
  const { table } = view;
  const waiting = isWaiting(view);
  byId("lobby").hidden = !waiting;
  byId("play").hidden = waiting;
  if (waiting && !lobbyStarted) loadLobby();
  byId("title").textContent = table.name;
  byId("return").hidden = seatPlayedByBot(view) === null;
  byId("board").setAttribute("aria-label", t("table.board_label", { name: view.board.title }));
  document.body.dataset.status = table.status;
  document.body.classList.toggle("watching", view.yours.length === 0);
  setTitle(canMove(view) ? t("table.title_turn", { game: table.name }) : table.name);
}

// Escape closes a tip first; the selection stays.
addEventListener("keydown", (event) => event.key === "Escape" && tips?.dismissTip() && event.preventDefault(), true);

void open();
