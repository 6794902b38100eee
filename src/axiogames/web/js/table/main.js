/** Entry point of the table page. */
import { ARTWORK } from "../../generated/artwork.js";
import { ApiError, errorText, get, getMe, invalidateMe, onConnectionChange, wasIdentified } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { initPage, setTitle, whenSettled } from "../shared/frame.js";
import { t } from "../shared/i18n.js";
import { withErrorToast } from "../shared/toast.js";
import { startBoard } from "./board/board.js";
import { renderPoints, startPreview } from "./board/preview.js";
import { defineSymbols } from "./board/shapes.js";
import { startZoom } from "./board/zoom.js";
import { startButtons } from "./input/buttons.js";
import { startKeyboard } from "./input/keyboard.js";
import { startPointer } from "./input/pointer.js";
import { shownPlacement } from "./input/selection.js";
import { importLocal, isLocalTable } from "../local/ids.js";
import { connect, connectLocally, disconnect, reconnect } from "./net/connection.js";
import { lastReceived, receive, startMessages } from "./net/messages.js";
import { postToTable } from "./net/requests.js";
import { startHand } from "./panels/hand.js";
import { renderHandover, startHandover } from "./panels/handover.js";
import { startHistory } from "./panels/history.js";
import { startOpponents } from "./panels/opponents.js";
import { showResult, startResult } from "./panels/result.js";
import { startScoreTracks } from "./panels/score-tracks.js";
import { playSound, startSound, toggleSound } from "./panels/sound.js";
import { startStatus } from "./panels/status.js";
import { dismissTip, startTips, updateTips } from "./panels/tips.js";
import { openReplay, startReplay } from "./replay/replay.js";
import { onViewChange, state } from "./state/store.js";
import { canMove, isInLobby, seatPlayedByBot } from "./state/view.js";

/** @import {View} from "./net/protocol.js" */

/** Codes with which the server closes the WebSocket. */
const SIGNED_OUT = 4401;
const BANNED = 4403;
const NO_SUCH_TABLE = 4404;
const UNREADABLE = 4409;
/** Milliseconds between attempts to read a changed identity, and the maximum number of attempts. */
const IDENTITY_RETRY = 500;
const IDENTITY_ATTEMPTS = 4;

const id = location.pathname.split("/")[2] ?? "";
const requestedMove = new URLSearchParams(location.search).get("move");

async function open() {
  // A new visitor needs a cookie before the WebSocket is opened. A local table needs no identity.
  const identify = () => (wasIdentified() || isLocalTable(id) ? whenSettled().then(getMe) : getMe());
  await initPage({ identify });
  setTitle(t("table.title"));
  try {
    defineSymbols(ARTWORK);
    await (isLocalTable(id) ? openLocally() : openOnServer());
  } catch (error) {
    showLoadError(error);
  }
}

/** Open a table of the server. */
async function openOnServer() {
  start(await get(`/api/tables/${encodeURIComponent(id)}`));
  connectToServer();
}

/** Open a table of this browser. */
async function openLocally() {
  const { openLocalTable, sendToLocalTable } = await importLocal();
  const view = await openLocalTable(id, {
    onMessage: receive,
    onTaken: () => showLoadError(new ApiError(409, "taken", "")),
  });
  document.body.classList.add("local");
  connectLocally(sendToLocalTable);
  start(view);
}

/** Show that the table does not exist or could not be loaded. @param {unknown} error */
function showLoadError(error) {
  const missing = error instanceof ApiError && error.status === 404;
  byId("load-error-title").textContent = t(missing ? "missing.title" : "table.not_loaded");
  byId("load-error-why").textContent = missing ? t("missing.why") : errorText(error);
  byId("again").hidden = missing;
  byId("again").addEventListener("click", () => location.reload());
  byId("play").hidden = true;
  byId("load-error").hidden = false;
  if (!missing) onConnectionChange((connected) => connected && location.reload());
}

/** @param {View} view */
function start(view) {
  startBoard();
  startZoom({
    onMove: () => state.view && renderPoints(),
    getFocus: () => shownPlacement()?.target ?? state.view.tiles.at(-1) ?? null,
  });
  startOpponents();
  startScoreTracks();
  startHand();
  startPointer();
  startPreview();
  startStatus();
  startButtons();
  startHistory();
  startHandover();
  startReplay();
  const review = withErrorToast(async () => (await import("./replay/review.js")).openReview());
  startResult(review);
  byId("review").addEventListener("click", review);
  byId("menu-button").addEventListener(
    "click",
    withErrorToast(async () => (await import("./panels/menu.js")).openMenu()),
  );
  startKeyboard();
  startSound((on) => byId("mute").setAttribute("aria-pressed", String(!on)));
  byId("mute").addEventListener("click", toggleSound);
  byId("return").addEventListener("click", () => void postToTable(`seats/${seatPlayedByBot(state.view)}/return`));
  onViewChange(renderPage);
  startMessages(onRendered);
  receive(view);
  void startTips();
}

function connectToServer() {
  connect(id, {
    lastEntry: lastReceived,
    onMessage: receive,
    onStatusChange(connected) {
      state.online = connected;
      byId("connection").hidden = connected;
    },
    onClose(code) {
      if (code === NO_SUCH_TABLE) showLoadError(new ApiError(404, "", ""));
      if (code === UNREADABLE) showLoadError(new ApiError(409, "unreadable", ""));
      if (code === SIGNED_OUT || code === BANNED) void checkIdentity();
      return ![NO_SUCH_TABLE, UNREADABLE, SIGNED_OUT, BANNED].includes(code);
    },
  });
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (event) => event.persisted && reconnect());
}

/**
 * Reconnect after the session has ended, if this browser has a new session of the same person. That is so if the
 * password was changed in another tab, whose new cookie arrives within moments.
 */
async function checkIdentity() {
  try {
    const { id: personId } = await getMe();
    for (let attempt = 1; ; attempt++) {
      invalidateMe();
      const me = await getMe().catch((error) =>
        error.code === "signed_out" && attempt < IDENTITY_ATTEMPTS ? null : Promise.reject(error),
      );
      if (me?.id === personId) return reconnect();
      if (me) throw new ApiError(401, "signed_out", "");
      await new Promise((resolve) => setTimeout(resolve, IDENTITY_RETRY));
    }
  } catch (error) {
    showLoadError(error);
  }
}

/* Needed only if a bot or a hint of the server takes longer than usual. */
if (!isLocalTable(id)) setTimeout(() => import("./panels/preparation.js").catch(() => {}), 2_500);

/** Called when all received steps have been rendered. @param {View | null} before */
function onRendered(before) {
  renderHandover();
  updateTips(before);
  if (state.view.table.status !== "over" || state.replay) return;
  if (before === null && requestedMove !== null) return void openReplay(Number(requestedMove));
  if (before?.table.status === "playing") {
    playSound("end");
    void showResult();
  }
}

let lobbyStarted = false;

const loadLobby = withErrorToast(async () => {
  const { startLobby } = await import("./panels/lobby.js");
  if (lobbyStarted) return;
  lobbyStarted = true;
  startLobby();
});

function renderPage() {
  const { view } = state;
  const { table } = view;
  const inLobby = isInLobby(view);
  byId("lobby").hidden = !inLobby;
  byId("play").hidden = inLobby;
  if (inLobby && !lobbyStarted) loadLobby();
  byId("title").textContent = table.name;
  byId("return").hidden = seatPlayedByBot(view) === null;
  byId("board").setAttribute("aria-label", t("table.board_label", { name: view.board.title }));
  document.body.dataset.status = table.status;
  document.body.classList.toggle("watching", view.yours.length === 0);
  setTitle(canMove(view) ? t("table.title_turn", { game: table.name }) : table.name);
}

// Escape closes a tip before it changes the selection.
addEventListener("keydown", (event) => event.key === "Escape" && dismissTip() && event.preventDefault(), true);

void open();
