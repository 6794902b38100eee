"""Whole games over the real routes: no message before the end contains a seed, a hand or the key."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from pathlib import Path

import pytest
from sqlalchemy import update

from axiogames.games import GAMES
from axiogames.model.record import Record, replay
from axiogames.rng import commitment
from axiogames.server.domain.game_state import GameState
from axiogames.server.routes import daily, tables
from axiogames.server.storage.schema import people
from tests.server.in_process import App, Guest, Json, Socket, running_app
from tests.server.scenarios import TABLE, refused_requests, targets

OPEN = {"kind": "open"}
ME = {"kind": "me"}
BOT = {"kind": "bot", "level": "greedy"}
NO_SUCH_TABLE = 4404


def game_at(app: App, table: str) -> GameState:
    return app.server.rooms._rooms[table].game


async def all_responses(app: App, table: str, game: str, token: str) -> bytes:
    """Return the raw responses of all GET routes."""
    paths = [target.replace(TABLE, table) for target in targets(app, game, slow=False)]
    return b"\n".join([(await app.request("GET", target, token)).raw for target in paths])


async def play(
    app: App, table: str, sockets: list[Socket], rng: random.Random, max_moves: int = 1000
) -> None:
    """Play for all seats with a WebSocket, for a number of moves or to the end."""
    for _ in range(max_moves):
        game = game_at(app, table)
        if game.status != "playing":
            return
        if game.bot_to_move is not None:
            await sockets[0].until_entry(game.number + 1)
            continue
        assert game.turn is not None
        assert game.table is not None
        pick = rng.randrange(len(game.table.legal_moves()))
        socket = sockets[game.turn]
        answer = await socket.request(do="move", id=f"m{game.number}", n=game.number, pick=pick)
        assert answer["type"] != "refused", answer


@pytest.mark.parametrize(
    "game", [*GAMES[::2], *(pytest.param(game, marks=pytest.mark.slow) for game in GAMES[1::2])]
)
def test_no_message_before_the_end_contains_seed_hand_or_key(
    tmp_path: Path, game: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob, eve = [await app.guest(name) for name in ("Ann", "Bob", "Eve")]
            opened = await app.open(ann, game, [ME, OPEN, BOT], public=True)
            table, key = opened["id"], opened["invite"].encode()
            spectators = [await app.socket(table), await app.socket(table, eve.token)]
            visible = await all_responses(app, table, game, "") + await all_responses(
                app, table, game, eve.token
            )
            assert key not in visible
            assert key in await all_responses(app, table, game, ann.token)
            await app.call("POST", f"/api/tables/{table}/join", bob.token, {})
            sockets = [await app.socket(table, person.token) for person in (ann, bob)]
            seed = game_at(app, table).config.seed.encode()
            rng = random.Random(game)
            while True:
                await play(app, table, sockets, rng, 25)
                tokens = ["", ann.token, bob.token, eve.token]
                texts = [await all_responses(app, table, game, token) for token in tokens]
                refused = [
                    await app.request("GET", f"/api/tables/{table}/{path}", token)
                    for path in ("replay", "record")
                    for token in tokens
                ]
                if game_at(app, table).status != "playing":  # a bot may have finished the game
                    break
                assert not any(secret in text for text in texts for secret in (seed, key))
                assert {(response.status, response.json["code"]) for response in refused} == {
                    (409, "not_yet")
                }
            record = (await app.request("GET", f"/api/tables/{table}/record")).body
            shown = await app.call("GET", f"/api/tables/{table}")
            assert Record.parse(record).seed == seed.decode()
            assert shown["table"]["commitment"] == commitment(seed.decode())
            assert replay(Record.parse(record)).over
            for seat, socket in [(None, spectators[0]), (None, spectators[1]), *enumerate(sockets)]:
                received = await socket.drain()
                assert not any(seed.decode() in text for text in received)
                assert seat is not None or not any(key.decode() in text for text in received)
                for text in received:
                    check_hands(json.loads(text), seat)

    with caplog.at_level(logging.INFO):
        asyncio.run(run())
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def check_hands(message: Json, seat: int | None) -> None:
    """Check that a message for a seat hides the tiles of all other seats."""
    now = message.get("now")
    if now is not None:
        for other, hand in enumerate(now["hands"]):
            assert other == seat or set(hand) <= {"?"}
        for event in message["events"]:
            if event["t"] == "removed" or (event["t"] == "draw" and event["p"] != seat):
                assert set(event["tiles"]) <= {"?"}
        assert message["you"] == seat
        assert message["moves"] is None or now["turn"] == seat


def test_abandoned_game_is_not_revealed(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            table = (await app.open(ann, "axio", [ME, BOT]))["id"]
            await app.call("POST", f"/api/tables/{table}/leave", ann.token)
            seed = game_at(app, table).config.seed.encode()
            for token in ("", ann.token):
                texts = await all_responses(app, table, "axio", token)
                assert seed not in texts
                view = await app.call("GET", f"/api/tables/{table}", token)
                assert view["now"]["phase"] == "closed"
                check_hands(view, 0 if token else None)
                for path in ("replay", "record"):
                    assert (await app.request("GET", f"/api/tables/{table}/{path}", token)).status == 409

    asyncio.run(run())


def test_todays_deal_of_another_person_is_not_found(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, eve = await app.guest("Ann"), await app.guest("Eve")
            async with app.server.database.writing() as connection:  # results of new guests are not listed
                await connection.execute(update(people).values(created=1))
            table = (await app.call("POST", "/api/daily/axio", ann.token))["id"]
            unknown = "x" * len(table)
            socket = await app.socket(table, ann.token)
            await app.call("GET", f"/api/tables/{table}", ann.token)
            for token in ("", eve.token):
                await assert_not_found(app, table, unknown, token)
            await play(app, table, [socket], random.Random(1))
            assert game_at(app, table).status == "over"
            for token in ("", eve.token):
                await assert_not_found(app, table, unknown, token)
                # The result is listed without its table.
                assert "Ann" in str(await app.call("GET", "/api/daily", token))
            seed = game_at(app, table).config.seed.encode()
            assert seed not in await all_responses(app, table, "axio", ann.token)

    async def assert_not_found(app: App, table: str, unknown: str, token: str) -> None:
        responses = await all_responses(app, table, "axio", token)
        expected = await all_responses(app, unknown, "axio", token)
        if token:  # without a token, each request creates another guest
            assert responses == expected
        assert table.encode() not in responses
        for method, target, body in refused_requests(app):
            answers = [
                await app.request(method, target.replace(TABLE, name), token, body)
                for name in (table, unknown)
            ]
            assert answers[0] == answers[1]
            assert answers[0].status in (401, 404)
        for name in (table, unknown):
            assert await (await app.socket(name, token)).wait_closed() == NO_SUCH_TABLE

    asyncio.run(run())


def test_seed_of_a_daily_deal_is_revealed_after_its_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            table = (await app.call("POST", "/api/daily/trio", ann.token))["id"]
            await play(app, table, [await app.socket(table, ann.token)], random.Random(1))
            path = f"/api/tables/{table}/record"
            seed = game_at(app, table).config.seed.encode()
            assert seed not in (await app.request("GET", path, ann.token)).body
            for module in (daily, tables):
                monkeypatch.setattr(module, "today", lambda: "2999-01-01")
            assert seed in (await app.request("GET", path)).body

    asyncio.run(run())


@pytest.mark.parametrize("game", GAMES)
def test_shared_screen_shows_a_hand_only_while_its_player_looks(tmp_path: Path, game: str) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            table = (await app.open(ann, game, [ME, ME, ME]))["id"]
            socket = await app.socket(table, ann.token)
            other = await app.socket(table, ann.token)  # another connection of the same person
            view = await socket.until(lambda message: message["type"] == "view")
            check_hands(view, None)
            for _ in range(15):
                state = game_at(app, table)
                if state.turn is None:
                    break
                turn, number = state.turn, state.number
                for wrong in {0, 1, 2} - {turn}:
                    refused = await socket.request(do="look", id=f"w{wrong}{number}", seat=wrong)
                    assert refused["code"] == "not_your_turn"
                selected = await socket.request(do="look", id=f"l{number}", seat=turn)
                check_hands(selected, turn)
                assert selected["moves"] is not None
                view_without_seat = await app.call("GET", f"/api/tables/{table}", ann.token)
                check_hands(view_without_seat, None)
                step = await socket.request(do="move", id=f"m{number}", n=number, pick=0)
                check_hands(step, turn if game_at(app, table).turn == turn else None)
                later = await app.socket(table, ann.token, after=number)
                for text in [*await later.drain(), *await other.drain()]:
                    check_hands(json.loads(text), None)

    asyncio.run(run())


def test_hints_require_a_solo_game_or_bots(tmp_path: Path) -> None:
    async def hint(app: App, person: Guest, table: str) -> Json:
        socket = await app.socket(table, person.token)
        view = await socket.until(lambda message: message["type"] == "view")
        return await socket.request(do="hint", id="h", n=view["n"])

    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob")
            opened = await app.open(ann, "axio", [ME, OPEN])
            await app.call(
                "POST", f"/api/tables/{opened['id']}/join", bob.token, {"invite": opened["invite"]}
            )
            assert (await hint(app, ann, opened["id"]))["code"] == "not_allowed"
            assert (await hint(app, bob, opened["id"]))["code"] == "not_allowed"
            deal = (await app.call("POST", "/api/daily/axio", ann.token))["id"]
            assert (await hint(app, ann, deal))["code"] == "not_allowed"
            bot_table = (await app.open(ann, "axio", [ME, BOT]))["id"]
            assert (await hint(app, bob, bot_table))["code"] == "not_allowed"
            assert (await hint(app, ann, bot_table))["picks"]

    asyncio.run(run())
