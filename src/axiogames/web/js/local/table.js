/**
 * A table of this browser: the authority over its game, as the server is over its tables.
 *
 * It executes the same commands and sends the same messages. Nothing is sent before it is stored.
 */
import { Game } from "../rules/game.js";
import { recordOf } from "../rules/record.js";
import { DRAW } from "../rules/variant.js";
import { stepMessage, viewMessage } from "./messages.js";

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

/** Ids of commands that are remembered, so that a repeated one is not executed again. */
const REMEMBERED = 64;

export class LocalTable {
  /** The legal moves of the last message. @type {Int32Array} */
  offer = new Int32Array();
  /** The number of events before the last entry. */
  eventsBefore = 0;
  /** @type {"start" | "move" | "draw" | "back"} */
  #last = "start";
  /** @type {string[]} */
  #executed = [];

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
  }

  /** Draw the first hands of a new game, and store them. */
  async start() {
    if (this.stored.held === null) this.game.deal();
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
    return seat !== null && this.#last === "move" && seat === this.turn && moves.at(-1) === actions.length - 1;
  }

  /**
   * Execute a command of a person and return the answer. Changes are stored first.
   * @param {Command} command
   * @param {number | null} seat the seat from which the person looks
   * @returns {Promise<Message>}
   */
  async execute(command, seat) {
    const ack = command.id ?? null;
    if (ack && this.#executed.includes(ack)) return viewMessage(this, seat, ack);
    if (command.do === "preview") return this.#preview(command, seat);
    if (command.n !== this.n) throw new Refused("stale", `entry ${command.n} is not the last one, ${this.n}`);
    if (seat === null || seat !== this.turn) throw new Refused("not_your_turn", "another seat has to move");
    const whole = this.#change(command, seat);
    await this.#save();
    if (ack) this.#executed = [...this.#executed, ack].slice(-REMEMBERED);
    return whole ? viewMessage(this, seat, ack) : stepMessage(this, seat, ack);
  }

  /**
   * Play the move of a bot.
   * @param {number} action
   */
  async playBot(action) {
    this.#play(action, false);
    await this.#save();
  }

  /**
   * @param {Command} command
   * @param {number} seat
   * @returns {boolean} whether the answer must be a whole view
   */
  #change(command, seat) {
    switch (command.do) {
      case "move": {
        const action = this.offer[command.pick ?? -1];
        if (action === undefined) {
          throw new Refused("no_such_offer", `pick ${command.pick} is out of range: ${this.offer.length} moves`);
        }
        this.#play(action, command.hold ?? false);
        return false;
      }
      case "draw":
        if (this.stored.held !== seat) throw new Refused("not_your_turn", "no draw is held back");
        this.eventsBefore = this.game.events.length;
        this.stored.held = null;
        this.game.deal();
        this.#last = "draw";
        this.n += 1;
        return false;
      case "back":
        if (!this.canTakeBack(seat)) throw new Refused("not_allowed", "there is no placement to take back");
        this.game.undo(1);
        this.stored.held = null;
        this.#last = "back";
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
    this.#last = "move";
    this.n += 1;
  }

  /** @param {Command} command @param {number | null} seat @returns {Message} */
  #preview({ id, pick }, seat) {
    const action = this.offer[pick ?? -1];
    if (action === undefined || seat === null || seat !== this.turn) {
      throw new Refused("stale", "the position has changed");
    }
    const { variant } = this.game;
    const state = this.game.view(seat);
    const standing = variant.pyramidCount(state);
    const { after } = variant.preview(state, action);
    const ends = after.get("phase") === 0;
    return { type: "preview", id: id ?? "", pyramids: variant.pyramidCells(after, standing), ends };
  }

  async #save() {
    const { stored, game } = this;
    Object.assign(stored, { actions: [...game.actions], over: game.over, updated: Date.now() });
    await this.store(stored);
  }

  /** Return the record of the game. */
  record() {
    return recordOf(
      this.game,
      this.stored.seats.map(({ name }) => name),
    );
  }
}
