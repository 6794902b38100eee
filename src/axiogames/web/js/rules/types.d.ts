/** Types of the rules in WebAssembly. */
import type { Board, Terms } from "../table/net/protocol.js";

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

export type ArrayType =
  | "bool"
  | "int8"
  | "uint8"
  | "int16"
  | "uint16"
  | "int32"
  | "uint32"
  | "int64"
  | "uint64"
  | "float32"
  | "float64";

/** Element type, offset in bytes, and shape; a single number has no dimension. */
export type FieldType = [type: ArrayType, offset: number, shape: number[]];

/** The custom section of a module. */
export type Description = {
  layout: string;
  exports: Record<string, { parameters: [name: string, type: string][]; results: string[] }>;
  records: Record<string, { size: number; fields: Record<string, FieldType> }>;
  constants: Record<string, number>;
};

export type Spot = [x: number, y: number];

/** The squares of a board that grows (docs/reference/view_format.md). */
export type Torus = {
  side: number;
  low: [string, string];
  free: number;
  letters: string[];
  origin: Spot;
  right: Spot;
  up: Spot;
  shape: number;
  outline: string;
  column_label: Spot;
  row_label: Spot;
  margin: number;
  rounding: number;
};

export type ActionKind = "place" | "exchange" | "keep" | "pass";

/** What an action means. For an exchange, `tile` is a set of tiles in hand, a bit for each. */
export type Action = { kind: ActionKind; tile: number; place: number; named: string; at: string[]; letters: string };

export type RolloutConfig = { turns: number; width: number; prior_weight: number; search_after: number };

/** How a level chooses its moves. */
export type Level = { name: string } & (
  | { by: "points"; policy: number; samples: number }
  | { by: "value"; samples: number }
  | { by: "one_ply" }
  | { by: "search"; rollouts: number | null }
);

/** A game for a number of players and options (docs/reference/view_format.md), and its records in base64. */
export type VariantData = {
  game: string;
  players: number;
  options: string[];
  layout: string;
  kinds: string[];
  counts: number[];
  colours: string;
  tracks: string[];
  cap: number | null;
  hand: number;
  exchange_is_public: boolean;
  start_places: string[];
  phases: string[];
  action_kinds: ActionKind[];
  actions: { all: number; placements: number; legal: number };
  rows: {
    cells: number;
    cell_columns: number;
    symbols: number;
    action_columns: number;
    point_columns: number;
    max_point_rows: number;
  };
  state: {
    bytes: number;
    constants: number;
    fields: { name: string; offset: number; type: ArrayType; shape: number[] }[];
    encoded: string[];
    lengths: Record<string, string>;
    sparse: string[];
    contents: string;
  };
  cells: { names: string[]; marks: Record<string, string>; places: [shape: number, x: number, y: number, name: string][] } | null;
  torus: Torus | null;
  board: Board;
  setup: Record<string, unknown>;
  scale: Terms;
  draw_source: string;
  draw_sources: string[];
  levels: Level[];
  configs: { fast: RolloutConfig; full: RolloutConfig };
  records: { constants: string; opening: string; weights: string };
};
