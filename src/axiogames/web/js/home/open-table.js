/** Opening a table: on the server, or without a connection in this browser. */
import { ApiError, post } from "../shared/api.js";
import { navigate } from "../shared/busy-button.js";
import { t } from "../shared/i18n.js";
import { importLocal } from "../local/ids.js";

/** @import {StoredTable} from "../local/types.js" */
/** @import {TableRequest, TableSummary} from "../shared/types.js" */

/** The levels of the bots of this browser, and the one if the request names none. */
export const LOCAL_LEVELS = Array.from({ length: 8 }, (_, index) => `level${index + 1}`);
export const DEFAULT_LEVEL = LOCAL_LEVELS[3];

/**
 * Open a table and navigate to it. Games that need no other people can be played without the server.
 * @param {TableRequest} request
 */
export async function openTable(request) {
  let id;
  try {
    ({ id } = await post("/api/tables", request));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "offline" || !isLocal(request)) throw error;
    id = await openLocally(request);
  }
  navigate(`/t/${id}`);
}

/** Return whether everybody at a table is at this device or a bot, and this browser can run the game. @param {TableRequest} request */
const isLocal = ({ seats, move_time }) =>
  isSecureContext && typeof WebAssembly === "object" && !move_time && seats.every(({ kind }) => kind === "me" || kind === "bot");

/** @param {TableRequest} request */
async function openLocally({ game, seats, options = {}, shuffle = false }) {
  const people = seats.filter(({ kind }) => kind === "me").length;
  /** @type {StoredTable["seats"]} */
  const taken = seats.map((seat, index) => {
    if (seat.kind === "bot") {
      const level = seat.level ?? DEFAULT_LEVEL;
      return { kind: "bot", name: level, level };
    }
    const given = seat.kind === "me" ? seat.name : null;
    const name = given ?? (people > 1 ? t("seat.person.name", { seat: index + 1 }) : t("seat.me"));
    return { kind: "me", name, level: null };
  });
  const chosen = Object.keys(options).filter((name) => options[name]);
  const ordered = shuffle ? shuffled(taken) : taken;
  const { createLocalTable } = await importLocal();
  return createLocalTable({ game, players: seats.length, options: chosen, seats: ordered });
}

/** Return the items in random order. @template Item @param {Item[]} items @returns {Item[]} */
function shuffled(items) {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}

/**
 * Return the summaries of the tables of this browser, as the server returns those of its tables.
 * @param {StoredTable[]} tables
 * @param {Map<string, string>} names of the games
 * @returns {TableSummary[]}
 */
export const localSummaries = (tables, names) =>
  tables.map(({ id, game, players, options, seats, over, created, updated, moves }) => ({
    id,
    game,
    name: names.get(game) ?? game,
    players,
    options: Object.fromEntries(options.map((option) => [option, true])),
    status: over ? "over" : "playing",
    public: false,
    move_time: null,
    created,
    updated,
    seats: seats.map(({ kind, name, level }) => ({
      name,
      kind: kind === "me" ? "person" : "bot",
      level,
      here: true,
      away: null,
    })),
    moves,
    your_turn: !over,
    daily: null,
  }));
