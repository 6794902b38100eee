/** The state of the page as plain data. */
import type { Moves, PlacedTile, View } from "../net/protocol.js";

export type Point = { x: number; y: number };

/**
 * A place for a tile in one of its rotations. A pick is the number of a move in the offer of the server. Several picks
 * differ in the named colour; the best is first.
 */
export type Target = Point & { place: number; name: string; picks: number[] };

/** A rotation of a tile: a shape and the letters on it. `first` is the index of the unrotated tile's first letter. */
export type Rotation = { shape: number; letters: string; first: number; targets: Target[] };

/** The legal moves by tile and rotation. */
export type LegalMoves = { tiles: Rotation[][]; moves: Moves };

export type Placement = { rotation: number; target: Target };

export type Selection = {
  /** The index of the tile in hand. */
  tile: number | null;
  rotation: number;
  /** Follows the pointer or the arrow keys. */
  hovered: Placement | null;
  /** Waits for confirmation. */
  pending: Placement | null;
  /** The pick to send. */
  pick: number | null;
  /** The tiles to exchange, while they are being chosen. */
  exchange: Set<number> | null;
};

/** The positions after 0, 1, … moves, with open hands; `live` is the current view of the table. */
export type Replay = { positions: View[]; at: number; live: View };

export type State = {
  view: View;
  legal: LegalMoves | null;
  selection: Selection;
  /** The unacknowledged command, and the tile that it places. */
  sending: { id: string; placed: PlacedTile | null } | null;
  preview: { pick: number; pyramids: string[]; ends: boolean } | null;
  /** The reasons for a hint, while it is shown. */
  hintText: string;
  /** The progress of the rules as text, while a bot or a hint waits for them. */
  preparation: string;
  replay: Replay | null;
  online: boolean;
};
