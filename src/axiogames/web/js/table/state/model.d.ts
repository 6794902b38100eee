/** What the page itself keeps in mind, as plain data. */
import type { Moves, PlacedTile, View } from "../net/protocol.js";

export type Point = { x: number; y: number };

/** A place for a tile in one of its turns. The numbers of several moves differ in the colour that is named. */
export type Target = Point & { place: number; name: string; picks: number[] };

/** A way a tile can lie: a shape, and the letters as they read there. `first` is where its first letter lies. */
export type Rotation = { shape: number; letters: string; first: number; targets: Target[] };

/** The moves on offer, as a hand asks for them: by tile, then by turn. */
export type LegalMoves = { tiles: Rotation[][]; moves: Moves };

export type Placement = { rotation: number; target: Target };

export type Selection = {
  tile: number | null;
  rotation: number;
  /** Follows the pointer or the arrow keys. */
  hovered: Placement | null;
  /** Waits to be confirmed. */
  pending: Placement | null;
  pick: number | null;
  /** Tiles to exchange, as long as they are being chosen. */
  exchange: Set<number> | null;
};

/** Positions after so many moves, all hands open; `live` is where the table itself is. */
export type Replay = { positions: View[]; at: number; live: View };

export type State = {
  view: View;
  legal: LegalMoves | null;
  selection: Selection;
  sending: { id: string; placed: PlacedTile | null } | null;
  preview: { pick: number; pyramids: string[]; ends: boolean } | null;
  /** The reason of a hint, as long as its ghost is shown. */
  hintText: string;
  replay: Replay | null;
  online: boolean;
};
