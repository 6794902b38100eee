/** What the page itself keeps in mind, as plain data. */
import type { Moves, Placed, View } from "../net/protocol.js";

export type Point = { x: number; y: number };

/** A place for a tile in one of its turns. The numbers of several moves differ in the colour that is named. */
export type Target = Point & { place: number; name: string; picks: number[] };

/** A way a tile can lie: a shape, and the letters as they read there. `first` is where its first letter lies. */
export type Turn = { shape: number; letters: string; first: number; targets: Target[] };

/** The moves on offer, as a hand asks for them: by tile, then by turn. */
export type Options = { tiles: Turn[][]; moves: Moves };

export type Aim = { turn: number; target: Target };

export type Choice = {
  tile: number | null;
  turn: number;
  /** Follows the pointer or the arrow keys. */
  aim: Aim | null;
  /** Waits to be confirmed. */
  set: Aim | null;
  pick: number | null;
  /** Tiles to exchange, as long as they are being chosen. */
  swap: Set<number> | null;
};

/** Positions after so many moves, all hands open; `live` is where the table itself is. */
export type Replay = { positions: View[]; at: number; live: View };

export type State = {
  view: View;
  options: Options | null;
  choice: Choice;
  sending: { id: string; placed: Placed | null } | null;
  preview: { pick: number; pyramids: string[]; ends: boolean } | null;
  /** The reason of a hint, as long as its ghost is shown. */
  why: string;
  replay: Replay | null;
  online: boolean;
};
