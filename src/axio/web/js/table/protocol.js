/**
 * What a table and its page say to each other, as types (docs/protocol.md says what it means). There is no code here.
 *
 * @typedef {import("../shell/types.js").Seat} Seat
 * @typedef {[x: number, y: number, size: number]} Spot
 * @typedef {[x: number, y: number, width: number, height: number]} Box
 * @typedef {{path: string, wells: string, spots: Spot[], box: Box}} Shape
 * @typedef {"plain" | "outer" | "printed" | "star" | "blocked" | "free"} Ground
 * @typedef {[name: string, x: number, y: number, outline: number, ground: Ground, tint: string]} Cell
 * @typedef {[letter: string, x: number, y: number, size: number, cell: string]} Printed
 * @typedef {[text: string, x: number, y: number]} Label
 * @typedef {{
 *   box: Box, frame: string, outlines: string[], cells: Cell[], printed: Printed[], labels: Label[],
 *   shapes: Shape[], hand: number, title: string,
 * }} Board
 * @typedef {{tile: string, at: string[], shape: number, x: number, y: number}} Placed
 *
 * @typedef {{t: "place", p: number, tile: string, at: string[], gain: Record<string, number>, named?: string, pyramids?: string[]}} PlaceEvent
 * @typedef {{t: "draw", p: number, tiles: string[], from?: string}} DrawEvent
 * @typedef {{t: "exchange", p: number, shown: string[]}} ExchangeEvent
 * @typedef {{t: "pass", p: number}} PassEvent
 * @typedef {{t: "start", display: {tile: string, at: string}[]}} StartEvent
 * @typedef {{t: "removed", tiles: string[]}} RemovedEvent
 * @typedef {PlaceEvent | DrawEvent | ExchangeEvent | PassEvent | StartEvent | RemovedEvent} TableEvent
 *
 * @typedef {{scores: Record<string, number>[], place: number[], winners: number[]}} Result
 * @typedef {{
 *   turn: number | null, phase: "open" | "place" | "offer" | "draw" | "over" | "closed",
 *   scores: number[][], hands: string[][], in_bag: number, standing: number[], extra: number,
 *   pyramids: string[], spent: string[], last: string[], lowest: string[][], back: boolean, held: boolean,
 *   deadline: number | null, result: Result | null,
 * }} Now
 * @typedef {{move: "exchange" | "keep" | "pass", tiles?: string[]}} Other
 * @typedef {[shape: number, x: number, y: number, name: string]} Place
 * @typedef {{
 *   places: Place[], looks: string[], tile: number[], look: number[], place: number[],
 *   named: string[] | null, gain: number[][], others: Other[],
 * }} Moves
 * @typedef {{
 *   id: string, game: string, name: string, options: Record<string, boolean>,
 *   status: "open" | "playing" | "over" | "closed", public: boolean, move_time: number | null, commitment: string,
 *   daily: string | null, next: string | null, host: boolean, invite: string | null, hints: boolean,
 *   tracks: string[], cap: number | null, colours: string,
 * }} TableInfo
 *
 * @typedef {{
 *   type: "view", n: number, ack: string | null, table: TableInfo, seats: Seat[], you: number | null, yours: number[],
 *   board: Board, tiles: Placed[], events: TableEvent[], now: Now, moves: Moves | null,
 * }} View
 * @typedef {{
 *   type: "step", n: number, ack: string | null, events: TableEvent[], tiles: Placed[], now: Now,
 *   moves: Moves | null, board?: Board, you: number | null,
 * }} Step
 * @typedef {{type: "seats", seats: Seat[]}} SeatsMessage
 * @typedef {{type: "preview", id: string, pyramids: string[], ends: boolean}} Preview
 * @typedef {{type: "hint", id: string, picks: {pick: number, move: string, why: string}[]}} Hint
 * @typedef {{type: "refused", id: string | null, code: string, detail: string, view: View | null}} Refused
 * @typedef {View | Step | SeatsMessage | Preview | Hint | Refused | {type: "pong"}} Message
 *
 * @typedef {{do: "move" | "draw" | "back" | "look" | "preview" | "hint" | "ping", id?: string, n?: number,
 *   pick?: number, hold?: boolean, seat?: number}} Order
 */
export {};
