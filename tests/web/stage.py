"""Tables in all states, prepared once: running, finished, waiting, and a daily deal."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.server.driving import Browser, Guest, Json, LiveSocket, OpenedTable
from tests.web.browsing import Visitor

GAMES = ("axio", "hex", "rota", "trio")
MOVES_TO_MIDDLE = {"axio": 8, "hex": 9, "rota": 6, "trio": 7}  # own moves


def best_pick(moves: Json) -> int:
    """Return the placement with the most points, or the last move if there is no placement."""
    gains = [sum(gain) for gain in moves["gain"]]
    return gains.index(max(gains)) if gains else len(moves["others"]) - 1


def advance(live: LiveSocket, moves: int) -> None:
    """Make a number of moves and wait until this player is to place again."""
    live.wait_for_turn()
    while moves > 0 or live.now["phase"] == "offer":
        live.play(best_pick(live.moves or {}))
        live.wait_for_turn()
        moves -= 1


@dataclass
class Stage:
    """A person with tables in all states."""

    url: str
    ann: Browser = field(init=False)
    running: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ann = Browser(self.url)
        self.ann.patch("/api/me", {"name": "Ann"})
        bob = Guest(self.url, "Bob who has a long name")
        self.finished = self._finished()
        for game in GAMES:
            self.running[game] = self.ann.open(game, ["me", "greedy"]).id
            with self.ann.live(self.running[game]) as live:
                advance(live, MOVES_TO_MIDDLE[game])
        self.naming = self._naming()
        self.offered = self._offered()
        self.beginning = self.ann.open("axio", ["me", "greedy", "random", "balanced"]).id
        self.waiting = self.ann.open("hex", ["me", "open", "greedy", "open"])
        self.shared = self.ann.open("axio", [{"kind": "me", "name": "Ann"}, {"kind": "me", "name": "Ben"}]).id
        self.invitation = bob.open("trio", ["me", "open"])
        bob.open("rota", ["me", "open"], public=True, move_time=120)
        self.watched = self._watched(bob)
        self.daily = self._daily()

    def _finished(self) -> str:
        table = self.ann.open("axio", ["me", "greedy"])
        with self.ann.live(table.id) as live:
            live.play_to_end(best_pick)
        return table.id

    def _naming(self) -> str:
        """Open a game in which Ann holds a tile with an empty corner, so that she may name a colour."""
        while True:
            table = self.ann.open("rota", ["me", "greedy"]).id
            with self.ann.live(table) as live:
                advance(live, 2)
                while live.moves is not None:
                    if any(live.moves["named"] or ()):
                        return table
                    advance(live, 1)

    def _offered(self) -> str:
        """Open a game in which Ann may exchange her hand."""
        while True:
            table = self.ann.open("axio", ["me", "greedy"]).id
            with self.ann.live(table) as live:
                while live.wait_for_turn()["phase"] == "place":
                    live.play(best_pick(live.moves or {}))
                if live.now["phase"] == "offer":
                    return table

    def _watched(self, bob: Guest) -> str:
        """Open a public game of two other players."""
        table = bob.open("hex", ["me", "greedy", "random"], public=True)
        with bob.live(table.id) as live:
            advance(live, 6)
        return table.id

    def _daily(self) -> str:
        """Finish today's deal of one game."""
        table = str(self.ann.post("/api/daily/rota")["id"])
        with self.ann.live(table) as live:
            live.play_to_end(best_pick)
        return table

    def sign_in(self, visitor: Visitor) -> None:
        """Give a visitor the identity of this person."""
        name, _, value = self.ann.cookie.partition("=")
        host = urlsplit(self.url).hostname or ""
        visitor.context.add_cookies([{"name": name, "value": value, "domain": host, "path": "/"}])

    def invite_link(self, table: OpenedTable) -> str:
        return f"/t/{table.id}#invite={table.invite}"
