"""The tracker reproduces the views of a table from events, and refuses hidden information."""

from __future__ import annotations

import pytest

from axiogames.errors import AxioError, IllegalMove, ParseError
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.state import OFFER
from axiogames.model.events import Exchange, redact_event
from axiogames.model.record import apply_event
from axiogames.model.table import Table
from axiogames.moves import Move
from axiogames.players.engines.seat_tracker import SeatTracker
from axiogames.players.engines.serve import Engine
from axiogames.players.engines.views import write_view
from tests.games.conformance.positions import EACH, EACH_FOR_SEVERAL, STYLES, Case, play
from tests.players.engines.requests import line_of

SQUARES, EDGES = GAMES[0], GAMES[-1]


def engine_for(case: Case, seat: int) -> Engine:
    engine = Engine(case.game, "random", players=case.players, options=case.options)
    engine._game = SeatTracker(case.variant(), seat)  # `_set_up` would compile the player, which is not used
    return engine


@pytest.mark.parametrize("case", EACH, ids=str)
def test_tracker_follows_whole_games(case: Case) -> None:
    exchanges = 0
    for game in range(3):
        engines = [engine_for(case, seat) for seat in range(case.players)]
        sent = [0] * case.players
        for table in play(case.variant(), STYLES[game:] + STYLES[:game], f"followed {game}"):
            for seat, engine in enumerate(engines):
                view = table.view(seat)
                for event in view.events[sent[seat] :]:
                    answer = engine.respond(line_of(event))
                    assert answer is not None
                    assert answer.startswith("="), (line_of(event), answer)
                    exchanges += isinstance(event, Exchange)
                sent[seat] = len(view.events)
                tracked = engine._game.view
                assert tracked.events == view.events
                if table.state["phase"][0] == OFFER and table.turn != seat:
                    continue  # an offer to exchange a hidden hand is not known yet
                if not table.over:  # no view shows that the removed tiles would fit nowhere either
                    assert tracked.position == view.position
                    assert list(tracked.legal_moves()) == list(view.legal_moves())
    assert exchanges or case.players == 1 or case.variant().non_placements == 0


def dealt(seat: int = 0) -> SeatTracker:
    """Return a tracker of a two-player game after the deal, with a known hand."""
    game = SeatTracker(find_variant(SQUARES), seat)
    for p in range(2):
        game.draw(p, ["RR", "RG", "GB", "GB", "GO"] if p == seat else ["?"] * 5)
    return game


@pytest.mark.parametrize(
    ("seat", "tiles", "reason"),
    [
        (0, ["RR"], "no tile is due to be drawn"),
        (1, ["?"], "no tile is due to be drawn"),
    ],
)
def test_draw_is_refused_if_none_is_due(seat: int, tiles: list[str], reason: str) -> None:
    with pytest.raises(IllegalMove, match=reason):
        dealt().draw(seat, tiles)


def test_hidden_tiles_are_refused() -> None:
    game = SeatTracker(find_variant(SQUARES), 0)
    game.draw(0, ["RR"] * 4 + ["RG"])
    before = game.view.position
    for tiles in (["RR"], ["RG", "?"], ["?"] * 4 + ["BB"]):
        with pytest.raises(ParseError, match="does not see what seat 1 draws"):
            game.draw(1, tiles)
    assert game.view.position == before
    edges = SeatTracker(find_variant(EDGES), 0)
    kinds = edges.variant.kinds
    edges.draw(0, kinds[: edges.variant.hand])
    edges.draw(1, ["?"] * edges.variant.hand)
    edges.play(0, edges.view.legal_moves()[0])
    edges.draw(0, [kinds[-1]])
    with pytest.raises(ParseError, match="does not see what seat 1 exchanges"):
        edges.play(1, Move("exchange", tiles=(kinds[5],)))
    edges.play(1, Move("exchange", tiles=("?", "?")))
    assert edges.view.events[-1] == Exchange(1, ("?", "?"))


def test_inconsistent_events_are_refused() -> None:
    game = dealt()
    before = game.view.position
    for seat, move, reason in (
        (1, "GR k8-j8", "not this seat's turn"),
        (0, "BB k8-j8", "not in this seat's hand"),
        (0, "GO e5-e6", "first tile"),
        (0, "keep", "only when an exchange is offered"),
    ):
        with pytest.raises(IllegalMove, match=reason):
            game.play(seat, Move.parse(move))
    assert game.view.position == before
    game.play(0, Move.parse("RR h11-i11"))
    game.draw(0, ["RR"])
    game.play(1, Move.parse("GR k8-j8"))
    with pytest.raises(AxioError, match=r"exchange"):
        game.play(1, Move.parse("exchange RR RB RP PP"))  # red is among its lowest colours
    with pytest.raises(ParseError, match="are public in this game"):
        game.play(1, Move.parse("exchange"))
    game.draw(1, ["?"])
    assert game.view.turn == 0


def test_seen_tiles_cannot_be_in_another_hand() -> None:
    game = SeatTracker(find_variant(SQUARES), 0)
    game.draw(0, ["RR"] * 4 + ["BB"])
    game.draw(1, ["?"] * 5)
    game.play(0, Move.parse("RR h11-i11"))
    game.draw(0, ["RG"])
    with pytest.raises(IllegalMove, match="all tiles RR are known to be elsewhere"):
        game.play(1, Move.parse("RR k8-j8"))


def test_undo_restores_the_view() -> None:
    case = Case(EDGES, 3)
    *_, table = play(case.variant(), STYLES, "undo")
    engine = engine_for(case, 1)
    known = []
    for event in table.view(1).events:
        known.append((engine._game.view.position, engine._game.view.events))
        assert engine.respond(line_of(event)) != "", event
    for position, events in reversed(known):
        engine._game.undo()
        assert (engine._game.view.position, engine._game.view.events) == (position, events)
    with pytest.raises(AxioError, match="no event to undo"):
        engine._game.undo()


@pytest.mark.parametrize("case", EACH_FOR_SEVERAL, ids=str)
def test_tracker_continues_from_a_view(case: Case) -> None:
    """Also from the middle of a turn, when a draw or the answer to an offer is due."""
    *_, finished = play(case.variant(), STYLES, "from a view")
    table = Table(case.variant())
    engines: list[Engine] = []
    for number, event in enumerate(finished.events):
        if not number % 9:
            engines.append(engine_for(case, number % case.players))
            answer = engines[-1].respond(f"view {write_view(table.view(number % case.players))}")
            assert answer == "=\n\n"
        apply_event(table, event)
        for engine in engines[-4:]:
            seat = engine._game.seat
            line = line_of(redact_event(event, seat, table.variant.exchange_is_public))
            answer = engine.respond(line)
            assert answer is not None
            assert answer.startswith("="), (line, answer)
            if table.turn == seat:
                assert engine._game.view.position == table.view(seat).position
    assert len(engines) > 4
