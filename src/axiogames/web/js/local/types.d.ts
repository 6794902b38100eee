/** Tables in this browser. */
import type { Seat } from "../shared/types.js";
import type { Line, Rollouts, SearchPosition, Sums } from "../rules/search.js";
import type { VariantData } from "../rules/types.js";
import type { Command, Message } from "../table/net/protocol.js";

/** Who has a seat: a person at this device, or a bot with its level. */
export type LocalSeat = { kind: "me" | "bot"; name: string; level: string | null };

/** What is stored of a table. The actions determine everything else. */
export type StoredTable = {
  id: string;
  game: string;
  players: number;
  options: string[];
  seats: LocalSeat[];
  /** The digest of the rules that the game is played by. */
  rules: string;
  /** All actions so far, chance outcomes included. */
  actions: number[];
  moves: number;
  /** The seat whose draw is held back. */
  held: number | null;
  over: boolean;
  /** Milliseconds since 1970. */
  created: number;
  updated: number;
  /** The id of the rematch. */
  next: string | null;
  /** Counts the changes of the stored table. */
  revision: number;
};

/** A position as a seat knows it, and the event log of the seat. */
export type BotView = { state: Uint8Array; log: Int16Array; seat: number };

/** A worker that runs rollouts for the search of another one. */
export type Helper = { setPosition: (position: SearchPosition) => void; run: (rollouts: Rollouts) => Promise<Sums> };

export type BotRequest =
  | { type: "start"; module: WebAssembly.Module; data: VariantData; helpers: MessagePort[] }
  | { type: "assist"; module: WebAssembly.Module; data: VariantData; port: MessagePort }
  | { type: "choose"; id: number; level: string; view: BotView; milliseconds: number }
  | { type: "advise"; id: number; view: BotView; rollouts: number; milliseconds: number }
  | { type: "cancel" };
export type BotAnswer =
  | { type: "chosen"; id: number; action: number }
  | { type: "advice"; id: number; lines: Line[] };
export type { Command, Message, Seat };

export type OpenRequest = {
  type: "open";
  id: string;
  title: string;
  module: WebAssembly.Module;
  data: VariantData;
};
export type TableRequest =
  | OpenRequest
  | { type: "command"; command: Command }
  | { type: "update"; changes: Partial<StoredTable> }
  | { type: "record" }
  | { type: "replay" };
export type WorkerMessage =
  | Message
  /** What `record` or `replay` asked for. */
  | { type: "answer"; answer: object }
  /** The table is open in another tab. */
  | { type: "busy" }
  | { type: "failed"; detail: string };
