/** Types of the HTTP API (docs/reference/http_and_websocket.md). */

export interface Home {
  me: Me;
  games: Game[];
  mine: TableSummary[];
  open: TableSummary[];
  live: TableSummary[];
  daily: { deals: number; done: number };
}

export interface Option {
  name: string;
  summary: string;
}

export interface Game {
  id: string;
  name: string;
  summary: string;
  tiles: number;
  hand: number;
  cap: number | null;
  most_players: number;
  tracks: string[];
  options: Option[];
  reconstructed: string[];
  coach: Record<string, string>;
  /** Whether the game is part of the package. */
  built_in: boolean;
}

export interface Bot {
  level: string;
  default: boolean;
}

export interface Artwork {
  symbols: Record<string, { name: string; path: string }>;
  spark: string;
}

/** The prepared share of the rules of each game, from 0 to 1. */
export interface RulesProgress {
  ready: boolean;
  games: Record<string, number>;
}

export interface Me {
  id: string;
  name: string;
  username: string | null;
  phrase: boolean;
}

export interface Seat {
  name: string | null;
  kind: "person" | "bot" | "open";
  level: string | null;
  /** Whether the person is connected. */
  here: boolean;
  /** The name of the person for whom a bot plays. */
  away: string | null;
  /** Whether the seat is reserved for a person who has not joined yet. */
  invited?: boolean;
}

export type Status = "open" | "playing" | "over" | "closed";

export interface TableSummary {
  id: string;
  game: string;
  name: string;
  players: number;
  options: Record<string, boolean>;
  status: Status;
  public: boolean;
  move_time: number | null;
  created: number;
  updated: number;
  seats: Seat[];
  moves: number;
  your_turn: boolean;
  daily: string | null;
}

export interface DailyResult {
  place: number;
  name: string;
  you: boolean;
  scores: number[];
  table: string | null;
}

export interface DailyDeal {
  game: string;
  name: string;
  attempt: null | { table: string; status: Status; scores: number[] | null; listed: boolean };
  best: DailyResult[];
  yesterday: null | { table: string; name: string; scores: number[] };
}

export interface Daily {
  day: string;
  days: { before: string | null; after: string | null };
  deals: DailyDeal[];
}

export type SeatRequest = { kind: "me"; name?: string | null } | { kind: "bot"; level?: string } | { kind: "open" };

export interface TableRequest {
  game: string;
  seats: SeatRequest[];
  options?: Record<string, boolean>;
  public?: boolean;
  move_time?: number | null;
  shuffle?: boolean;
}

/** The settings of a person on this device. */
export interface Settings {
  /** Whether a placement waits for confirmation. */
  confirm: boolean;
  /** Whether tiles are drawn by a button, which leaves time to take a placement back. */
  hold: boolean;
  sound: boolean;
  /** Whether tips are shown. */
  coach: boolean;
  motion: "auto" | "full" | "reduced";
  theme: "auto" | "light" | "dark";
  /** "auto" or the code of a language. */
  language: string;
}

/** Arguments of the functions that build elements (shared/dom.js). */
export type Child = Node | string | number | null | undefined | false;
export type Props = Record<string, unknown>;

/** Seats of a new table: "person" is another person at this screen, "open" a seat that others may take. */
export type SeatKind = "me" | "person" | "bot" | "open";
export type Preset = "bot" | "friends" | "screen" | "alone";

export interface PlannedSeat {
  kind: SeatKind;
  name: string;
  level: string;
}

export interface TablePlan {
  game: string;
  seats: PlannedSeat[];
  options: Record<string, boolean>;
  public: boolean;
  move_time: number | null;
  shuffle: boolean;
}

declare global {
  /** Version and names of the built files; the bundler fills them into sw.js. */
  const VERSION: string;
  const FILES: string[];
  /** Names of the files of the rules. */
  const RULES: string[];
}

/** Types of a service worker. TypeScript's own types of service workers conflict with those of the DOM. */
export interface LifecycleEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

export interface FetchEvent extends LifecycleEvent {
  request: Request;
  respondWith(response: Promise<Response>): void;
}

export interface ServiceWorkerScope {
  skipWaiting(): Promise<void>;
  registration: { unregister(): Promise<boolean> };
  clients: { claim(): Promise<void> };
  addEventListener(name: "install" | "activate", listener: (event: LifecycleEvent) => void): void;
  addEventListener(name: "fetch", listener: (event: FetchEvent) => void): void;
}
