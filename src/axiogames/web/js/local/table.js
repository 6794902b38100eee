/**
 * A table of this browser: the authority over its game, as the server is over its tables.
 *
 * It executes the same commands and sends the same messages. Nothing is sent before it is stored.
 */
import { Game } from "../rules/game.js";
import { recordOf } from "../rules/record.js";
import { DRAW } from "../rules/variant.js";
import { replayMessages, stepMessage, viewMessage } from "./messages.js";

/** @import {Variant} from "../rules/variant.js" */
/** @import {Command, Message, StoredTable} from "./types.js" */

/** A command that cannot be executed; `code` names the text that the page shows. */
export class Refused extends Error {
  /** @param {string} code @param {string} detail */
  constructor(code, detail) {
    super(detail);
    this.name = "Refused";
    this.code = code;
  }
}

export class LocalTable {
  /**
   * The legal moves of the last message, the entry after which they were listed, and the seat.
   * @type {{n: number, seat: number, actions: Int32Array}}
   */
  offer = { n: 0, seat: -1, actions: new Int32Array() };
  /** Whether all hands are shown, as in a replay. */
  openHands = false;
  /** The number of events before the last entry. */
  eventsBefore = 0;
  /** The seat whose move was the last entry, or null. @type {number | null} */
  #lastMover;

  /**
   * @param {Variant} variant
   * @param {StoredTable} stored
   * @param {string} title the name of the game
   * @param {(stored: StoredTable) => Promise<void>} store
   */
  constructor(variant, stored, title, store) {
    this.game = new Game(variant, stored.actions);
    this.stored = stored;
    this.title = title;
    this.store = store;
    /** The number of the last entry. */
    this.n = this.game.moves.length + 1;
    this.#lastMover = stored.held;
  }

  /** Draw the first hands of a new game, and store them. */
  async start() {
    if (this.stored.held !== null || this.game.state.get("phase") < DRAW) return;
    this.game.deal();
    await this.#save();
  }

  /** Change what is stored besides the game. @param {Partial<StoredTable>} changes */
  async update(changes) {
    Object.assign(this.stored, changes);
    await this.#save();
  }

  /** The seat to move, or the seat whose draw is held back. */
  get turn() {
    return this.stored.held ?? this.game.variant.turn(this.game.state);
  }

  /** The level of the bot to move, or null. */
  get botToMove() {
    const { turn } = this;
    return turn === null || this.stored.held !== null ? null : this.stored.seats[turn].level;
  }

  /** The seat of the person at the device: in pass and play, the one to move. */
  get defaultSeat() {
    const own = this.stored.seats.flatMap(({ kind }, seat) => (kind === "me" ? [seat] : []));
    return own.length === 1 ? own[0] : null;
  }

  /** Return whether a seat can take back its last placement, after which no tile has been drawn. @param {number | null} seat */
  canTakeBack(seat) {
    const { actions, moves } = this.game;
    return seat !== null && seat === this.turn && seat === this.#lastMover && moves.at(-1) === actions.length - 1;
  }

  /** Return the seat from which a person looks who asks for one. @param {number | null} seat */
  seatToLookFrom(seat) {
    if (seat === null) return this.defaultSeat;
    const own = this.stored.seats.filter(({ kind }) => kind === "me").length;
    if (this.stored.seats[seat]?.kind !== "me") throw new Refused("not_allowed", `seat ${seat} is not yours`);
    if (own > 1 && seat !== this.turn) throw new Refused("not_your_turn", "only the seat to move can look");
    return seat;
  }

  /**
   * Refuse a command that is out of date or comes from a seat that is not to move.
   * @param {Command} command
   * @param {number | null} seat
   */
  checkTurn(command, seat) {
    if (command.n !== this.n) throw new Refused("stale", `entry ${command.n} is not the last one, ${this.n}`);
    if (this.game.over) throw new Refused("game_over", "the game is over");
    if (seat === null || seat !== this.turn) throw new Refused("not_your_turn", "another seat has to move");
  }

  /** Return the legal move that a command picks. @param {Command} command @param {number} seat */
  #picked({ pick = -1 }, seat) {
    const { n, actions } = this.offer;
    const action = n === this.n && this.offer.seat === seat && this.stored.held === null ? actions[pick] : undefined;
    if (action === undefined) throw new Refused("no_such_offer", `pick ${pick} is not one of the offered moves`);
    return action;
  }

  /**
   * Execute a command of a person and return the answer. Changes are stored first.
   * @param {Command} command
   * @param {number | null} seat the seat from which the person looks
   * @returns {Promise<Message>}
   */
  async execute(command, seat) {
    const ack = command.id ?? null;
    this.checkTurn(command, seat);
    const mover = /** @type {number} */ (seat);
    if (command.do === "preview") return this.#preview(command, mover);
    const whole = await this.#commit(() => this.#change(command, mover));
    return whole ? viewMessage(this, seat, ack) : stepMessage(this, seat, ack);
  }

  /**
   * Play the move of a bot.
   * @param {number} action
   */
  async playBot(action) {
    await this.#commit(() => this.#play(action, false));
  }

  /**
   * @param {Command} command
   * @param {number} seat
   * @returns {boolean} whether the answer must be a whole view
   */
  #change(command, seat) {
    switch (command.do) {
      case "move": {
        this.#play(this.#picked(command, seat), command.hold ?? false);
        return false;
      }
      case "draw":
        if (this.stored.held !== seat) throw new Refused("not_allowed", "no draw is held back");
        this.eventsBefore = this.game.events.length;
        this.stored.held = null;
        this.game.deal();
        this.#lastMover = null;
        this.n += 1;
        return false;
      case "back":
        if (!this.canTakeBack(seat)) throw new Refused("not_allowed", "there is no placement to take back");
        this.game.undo(1);
        this.stored.held = null;
        this.#lastMover = null;
        this.n += 1;
        return true;
      default:
        throw new Refused("bad_message", `unknown command ${command.do}`);
    }
  }

  /** @param {number} action @param {boolean} hold */
  #play(action, hold) {
    const { game, stored } = this;
    const seat = game.state.get("seat");
    this.eventsBefore = game.events.length;
    if (game.play(action) !== 0) throw new Refused("illegal_move", "the rules do not allow this move");
    const drawsNext = game.state.get("phase") >= DRAW && game.state.get("seat") === seat;
    stored.held = hold && drawsNext ? seat : null;
    if (stored.held === null) game.deal();
    this.#lastMover = seat;
    this.n += 1;
  }

  /** @param {Command} command @param {number} seat @returns {Message} */
  #preview(command, seat) {
    const action = this.#picked(command, seat);
    const { variant } = this.game;
    const state = this.game.view(seat);
    const standing = variant.pyramidCount(state);
    const { after } = variant.preview(state, action);
    const ends = after.get("phase") === 0;
    return { type: "preview", id: command.id ?? "", pyramids: variant.pyramidCells(after, standing), ends };
  }

  /**
   * Change the game and store it. If it cannot be stored, nothing changes.
   * @template Result
   * @param {() => Result} change
   * @returns {Promise<Result>}
   */
  async #commit(change) {
    const { n, eventsBefore } = this;
    const { actions, held } = this.stored;
    const last = this.#lastMover;
    try {
      const result = change();
      await this.#save();
      return result;
    } catch (error) {
      Object.assign(this, { n, eventsBefore });
      this.#lastMover = last;
      this.stored.held = held;
      this.game.restore(actions);
      throw error instanceof Refused ? error : new Refused("unavailable", String(error));
    }
  }

  async #save() {
    const { stored, game } = this;
    const next = { ...stored, revision: stored.revision + 1, actions: [...game.actions], moves: game.moves.length, over: game.over, updated: Date.now() };
    await this.store(next);
    this.stored = next;
  }

  /** Return the replay of the game, which must be over. */
  replay() {
    const { variant } = this.game;
    const replayed = new LocalTable(variant, { ...this.stored, actions: [] }, this.title, async () => {});
    replayed.openHands = true;
    return replayMessages(replayed, this.game.actions);
  }

  /** Return the record of the game. */
  record() {
    return recordOf(
      this.game,
      this.stored.seats.map(({ name }) => name),
    );
  }
}
