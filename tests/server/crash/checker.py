"""Check of the stored log: replay it and compare it with the clients' ledger."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec

from axiogames.errors import AxioError
from axiogames.games import find_variant
from axiogames.games.runtime.state import OFFER, OVER, PLACE
from axiogames.model.events import Event, redact_event
from axiogames.model.table import Table
from tests.server.crash.ledger import Delivered, Json, Ledger, Sent
from tests.server.crash.stored import StoredTable

HOLD = 15_000  # milliseconds after which a held draw happens
PHASES = {PLACE: "place", OFFER: "offer", OVER: "over"}


class Inconsistency(AssertionError):
    """The log contradicts the rules or the messages to clients."""


@dataclass(frozen=True, slots=True)
class TableState:
    """State of a table after one entry."""

    entry: Json
    events: tuple[Event, ...]
    before: int  # number of events before the entry
    status: str
    turn: int | None
    offers: int  # number of legal moves of the seat to move
    visible: dict[int | None, Json]  # expected `now` for every seat and for spectators


class LogChecker:
    """Checker for the log of one table. Applies each entry once; stored entries must never change."""

    def __init__(self, stored: StoredTable, ledger: Ledger) -> None:
        row = stored.row
        self._ledger = ledger
        self._id: str = row["id"]
        self._seed: str = row["seed"]
        self._variant = find_variant(row["game"], row["players"], json.loads(row["options"]))
        self._table: Table | None = None
        self._seats: list[Json] = [{"person": None, "name": "", "bot": None} for _ in range(row["players"])]
        self._status = "open"
        self._held: int | None = None  # seat that delays its draw
        self._entries: list[tuple[int, int, str]] = []
        self._ids: dict[tuple[int, str], int] = {}  # entry numbers by seat and message id
        self.states: list[TableState] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bot_to_move(self) -> bool:
        """Whether a bot is to move."""
        turn = self._turn
        return turn is not None and self._held is None and self._seats[turn]["bot"] is not None

    def has_applied(self, sent: Sent) -> bool:
        """Return whether the log contains the change that a message requested."""
        return (sent.seat, sent.id) in self._ids

    def compare(self, stored: StoredTable) -> None:
        """Apply new entries and compare the log with the ledger. Raises `Inconsistency`."""
        known = len(self._entries)
        self._check(stored.entries[:known] == self._entries, "stored entries have changed or are gone")
        for number, at, body in stored.entries[known:]:
            self._check(number == len(self._entries) + 1, f"entry {number} follows {len(self._entries)}")
            self._add(number, json.loads(body))
            self._entries.append((number, at, body))
        self._check_rows(stored)
        self._check_delivered()
        for sent in self._ledger.sent.values():
            self._check_sent(sent)
        people = {seat["person"] for seat in self._seats}
        for person in self._ledger.seated:
            self._check(person in people, f"the seat of {person} was confirmed but is not stored")
        for person in self._ledger.left:
            plays = [s for s in self._seats if s["person"] == person and s["bot"] is None]
            self._check(
                not plays or self._status in ("over", "closed"),
                f"the leaving of {person} was confirmed but is not stored",
            )

    def _check(self, condition: bool, message: str) -> None:
        if not condition:
            raise Inconsistency(f"table {self._id}, {len(self._entries)} entries: {message}")

    # ------------------------------------------------------------ the log

    def _add(self, number: int, entry: Json) -> None:
        before = len(self._table.events) if self._table else 0
        try:
            self._apply(number, entry)
        except (AxioError, KeyError, AttributeError) as error:
            raise Inconsistency(
                f"table {self._id}: entry {number}, {entry}, is impossible: {error!r}"
            ) from error
        if entry["a"] in ("move", "draw", "back", "close"):
            self._held = entry["seat"] if entry.get("held") else None
        table = self._table
        if self._status == "playing" and table is not None and table.over:
            self._status = "over"
        self.states.append(
            TableState(
                entry=entry,
                events=table.events if table else (),
                before=before,
                status=self._status,
                turn=self._turn,
                offers=len(table.legal_moves()) if table and self._is_asked else 0,
                visible={seat: self._now(seat) for seat in (None, *range(self._variant.players))},
            )
        )

    def _apply(self, number: int, entry: Json) -> None:
        kind, seat = entry["a"], entry.get("seat", 0)
        table = self._table
        if kind in ("start", "move", "draw", "back"):
            self._check(
                self._status == ("open" if kind == "start" else "playing"), f"{entry} while {self._status}"
            )
        match kind:
            case "sit" | "rise" | "bot":
                self._check(self._status == "open", f"{entry} while {self._status}")
                level = entry.get("level")
                name = entry.get("name", level) or ""
                self._seats[seat] = {"person": entry.get("person"), "name": name, "bot": level}
            case "start":
                self._check(all(s["person"] or s["bot"] for s in self._seats), "started with a free seat")
                self._table = table = Table(self._variant)
                table.seed = self._seed
                self._status = "playing"
                self._draw(table, entry)
            case "move":
                assert table is not None
                self._note_id(number, seat, entry)
                self._check_pick(table, seat, entry)
                table.play(entry["move"], seat, deal=False)
                if entry.get("held"):
                    self._check(table.draw_due > 0 and not entry.get("drawn"), f"{entry} delays no draw")
                else:
                    self._draw(table, entry)
            case "draw":
                assert table is not None
                assert self._held is not None
                self._note_id(number, self._held, entry)
                self._draw(table, entry)
            case "back":
                assert table is not None
                self._note_id(number, seat, entry)
                table.undo()
            case "replace" | "return":
                self._seats[seat]["bot"] = entry.get("level")
            case "close":
                self._status = "closed"
            case "next":
                pass
            case _:
                raise Inconsistency(f"unknown entry: {entry}")

    def _draw(self, table: Table, entry: Json) -> None:
        drawn = table.deal()  # the draw that follows from the seed, independent of crashes
        self._check(drawn == entry.get("drawn", []), f"{entry} should have drawn {drawn}")

    def _note_id(self, number: int, seat: int, entry: Json) -> None:
        if message := entry.get("id"):
            self._check((seat, message) not in self._ids, f"{message} of seat {seat} was applied twice")
            self._ids[seat, message] = number

    def _check_pick(self, table: Table, seat: int, entry: Json) -> None:
        sent = self._ledger.sent.get((seat, entry.get("id", "")))
        if sent is not None and sent.pick is not None:
            expected = str(table.legal_moves()[sent.pick])
            self._check(entry["move"] == expected, f"{entry}, but the client chose {expected}")

    @property
    def _turn(self) -> int | None:
        if self._status != "playing" or self._table is None:
            return None
        return self._held if self._held is not None else self._table.turn

    @property
    def _is_asked(self) -> bool:
        """Whether a person is offered moves; false if a bot has taken over the seat."""
        return self._turn is not None and not self.bot_to_move

    def _now(self, seat: int | None) -> Json:
        if self._table is None:
            return {}
        view = self._table.view(seat)
        phase = PHASES.get(int(view.state["phase"][0]), "draw")
        return {
            "turn": self._turn,
            "phase": phase if self._status == "playing" else self._status,
            "scores": view.state["scores"][0, : view.players].tolist(),
            "hands": [list(view.hand(other)) for other in range(view.players)],
            "in_bag": view.in_bag,
        }

    # ------------------------------------------------------------ derived columns

    def _check_rows(self, stored: StoredTable) -> None:
        at = self._entries[-1][1]
        due = at if self.bot_to_move else at + HOLD if self._held is not None else None
        expected = {
            "updated": at,
            "number": len(self._entries),
            "moves": self._table.plies if self._table else 0,
            "status": self._status,
            "turn": self._turn,
            "due": due,
        }
        found = {name: stored.row[name] for name in expected}
        self._check(found == expected, f"the table's row is {found}, but its entries imply {expected}")
        seats = [{name: row[name] for name in ("person", "name", "bot")} for row in stored.seats]
        self._check(seats == self._seats, f"the seats' rows are {seats}, but the entries imply {self._seats}")
        full = all(seat["person"] or seat["bot"] for seat in self._seats)
        self._check(not full or self._status != "open", "all seats are taken, but the game has not started")

    # ------------------------------------------------------------ comparison with clients

    def _check_sent(self, sent: Sent) -> None:
        number = self._ids.get((sent.seat, sent.id))
        if sent.refused is not None:
            self._check(number is None, f"{sent} was refused but applied")
        if sent.acknowledged is not None:
            self._check(number is not None, f"{sent} was acknowledged but is not stored")
            assert number is not None
            same = number == sent.acknowledged if sent.exactly else number <= sent.acknowledged
            self._check(same, f"{sent} is entry {number}, not the acknowledged one")
        if number is not None:
            entry = self.states[number - 1].entry
            self._check(
                number == sent.n + 1 and entry["a"] == sent.do, f"{sent} became entry {number}, {entry}"
            )

    def _check_delivered(self) -> None:
        for delivered in self._ledger.delivered:
            n = delivered.message["n"]
            self._check(1 <= n <= len(self.states), f"a client received the unknown entry {n}")
            self._compare(delivered, self.states[n - 1])
        self._ledger.delivered.clear()

    def _compare(self, delivered: Delivered, state: TableState) -> None:
        message = delivered.message
        since = state.before if message["type"] == "step" else 0
        public = self._variant.exchange_is_public
        events = [redact_event(event, delivered.seat, public) for event in state.events[since:]]
        self._check(message["events"] == _plain(events), f"the events of {message} should be {events}")
        expected_now = state.visible[delivered.seat]
        now = {name: message["now"][name] for name in expected_now}
        self._check(now == expected_now, f"{now} was delivered instead of {expected_now}")
        moves = message["moves"]
        offers = len(moves["tile"]) + len(moves["others"]) if moves else 0
        expected = state.offers if delivered.seat is not None and delivered.seat == state.turn else 0
        self._check(offers == expected, f"{offers} moves were offered instead of {expected}")


def _plain(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))
