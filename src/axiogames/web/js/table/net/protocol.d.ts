/** Messages between table page and server (docs/reference/http_and_websocket.md). */
import type { Seat } from "../../shared/types.js";
export type { Seat };

export type Spot = [x: number, y: number, size: number];
export type Box = [x: number, y: number, width: number, height: number];
export type Shape = { path: string; wells: string; spots: Spot[]; box: Box };
export type Ground = "plain" | "outer" | "printed" | "star" | "blocked" | "free";
export type Cell = [name: string, x: number, y: number, outline: number, ground: Ground, tint: string];
export type Board = {
  box: Box;
  frame: string;
  outlines: string[];
  cells: Cell[];
  printed: [letter: string, x: number, y: number, size: number, cell: string][];
  labels: [text: string, x: number, y: number][];
  shapes: Shape[];
  hand: number;
  title: string;
};
export type PlacedTile = { tile: string; at: string[]; shape: number; x: number; y: number };

export type PlaceEvent = {
  t: "place";
  p: number;
  tile: string;
  at: string[];
  gain: Record<string, number>;
  named?: string;
  pyramids?: string[];
};
export type TableEvent =
  | PlaceEvent
  | { t: "draw"; p: number; tiles: string[]; from?: string }
  | { t: "exchange"; p: number; shown: string[] }
  | { t: "pass"; p: number }
  | { t: "start"; display: { tile: string; at: string }[] }
  | { t: "removed"; tiles: string[] };

export type TableState = {
  turn: number | null;
  phase: "open" | "place" | "offer" | "draw" | "over" | "closed";
  scores: number[][];
  hands: string[][];
  in_bag: number;
  standing: number[];
  extra: number;
  pyramids: string[];
  spent: string[];
  last: string[];
  lowest: string[][];
  back: boolean;
  held: boolean;
  deadline: number | null;
  result: { scores: Record<string, number>[]; place: number[]; winners: number[] } | null;
};
export type NonPlacement = "exchange" | "keep" | "pass";
export type Moves = {
  places: [shape: number, x: number, y: number, name: string][];
  looks: string[];
  tile: number[];
  look: number[];
  place: number[];
  named: string[] | null;
  gain: number[][];
  others: { move: NonPlacement; tiles?: string[] }[];
};
export type TableInfo = {
  id: string;
  game: string;
  name: string;
  options: Record<string, boolean>;
  status: "open" | "playing" | "over" | "closed";
  public: boolean;
  move_time: number | null;
  commitment: string;
  daily: string | null;
  next: string | null;
  host: boolean;
  invite: string | null;
  hints: boolean;
  tracks: string[];
  cap: number | null;
  colours: string;
};

export type View = {
  type: "view";
  n: number;
  ack: string | null;
  table: TableInfo;
  seats: Seat[];
  you: number | null;
  yours: number[];
  board: Board;
  tiles: PlacedTile[];
  events: TableEvent[];
  now: TableState;
  moves: Moves | null;
};
export type Step = {
  type: "step";
  n: number;
  ack: string | null;
  events: TableEvent[];
  tiles: PlacedTile[];
  now: TableState;
  moves: Moves | null;
  board?: Board;
  you: number | null;
};
export type Preview = { type: "preview"; id: string; pyramids: string[]; ends: boolean };
export type Terms = { kind: "win" | "place" | "lowest" | "points"; full: number };
export type Remark = {
  key: string;
  move?: string;
  track?: string;
  seat?: number;
  mine?: number;
  other?: number;
  count?: number;
  value?: number;
  best?: number;
  behind?: number;
  within?: number;
};
export type HintPick = { pick: number; move: string; value: number | null; error: number | null; remarks: Remark[] };
export type Hint = { type: "hint"; id: string; terms: Terms; picks: HintPick[] };

export type Rating = "forced" | "best" | "good" | "inaccuracy" | "mistake" | "blunder";
export type Candidate = {
  move: string;
  value: number;
  error: number;
  behind: number;
  behind_error: number;
  tile: PlacedTile | null;
};
export type ReviewedMove = {
  ply: number;
  at: number;
  seat: number;
  move: string;
  rating: Rating;
  given_up: number;
  luck: { change: number; error: number };
  made: number;
  candidates: Candidate[];
  remark: Remark;
};
export type Account = {
  start: number;
  luck: number;
  choices: number;
  others: number;
  result: number;
  error: number;
};
export type Review = {
  terms: Terms;
  seats: {
    account: Account;
    given_up: number;
    accuracy: number | null;
    ratings: Record<Rating, number>;
    line: [step: number, value: number][];
  }[];
  moves: ReviewedMove[];
  turning: { ply: number; seat: number; by: "choice" | "luck"; change: number }[];
};
export type ReviewState = {
  state: "none" | "running" | "ready";
  done: number;
  total: number;
  review: Review | null;
};
export type Refused = { type: "refused"; id: string | null; code: string; detail: string; view: View | null };
export type Message = View | Step | { type: "seats"; seats: Seat[] } | Preview | Hint | Refused | { type: "pong" };

export type Command = {
  do: "move" | "draw" | "back" | "look" | "preview" | "hint" | "ping";
  id?: string;
  n?: number;
  pick?: number;
  hold?: boolean;
  seat?: number;
};
