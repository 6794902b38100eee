"""Logs: JSON lines without secrets, hidden tiles and network addresses."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from axiogames.server.processes import JsonFormatter
from tests.server.driving import Browser, Guest, RunningServer, start_server

PASSWORD = "swordfish and chips"


def use_server(server: RunningServer) -> tuple[list[str], list[str]]:
    """Use a server in many ways, and return the secrets and a hand."""
    ann = server.guest("Ann")
    browser = Browser(server.url)
    phrase = ann.post("/api/me/phrase")["phrase"]
    ann.post("/api/me/account", {"username": "ann.a", "password": PASSWORD})
    browser.post("/api/enter", {"phrase": phrase})
    browser.post("/api/enter", {"username": "ann.a", "password": PASSWORD})
    browser.refused("POST", "/api/enter", {"phrase": phrase + "x"})
    bob = Guest(server.url, "Bob")
    table = ann.open("axio", ["me", "open"])
    bob.refused("POST", f"/api/tables/{table.id}/join", {"invite": "wrong"})
    bob.join(table)
    with ann.live(table.id) as hers, browser.live(table.id) as second:
        hers.recv()
        second.recv()
        hers.play(0)
        hers.socket.send("{not json")
        hers.until("refused")
    bob.post(f"/api/tables/{table.id}/leave")
    secrets = [ann.token, bob.token, browser.cookie.partition("=")[2], phrase, PASSWORD, table.invite]
    secrets += [ann.token.rpartition(".")[2], "wrong", "127.0.0.1"]
    return [secret for secret in secrets if secret], hers.now["hands"][0]


def test_log_lines_are_json_without_secrets(tmp_path: Path) -> None:
    with start_server(tmp_path, log="debug", limits=True) as server:
        secrets, hand = use_server(server)
        server.stop()
        text = server.log
    lines = [json.loads(line) for line in text.splitlines()]
    assert all({"at", "level", "from", "message"} <= set(line) for line in lines)
    for line in lines:
        for secret in secrets:
            assert secret not in json.dumps(line), f"{secret!r} is in {line}"
        assert json.dumps(hand)[1:-1] not in line["message"]
        assert '"hands"' not in line["message"]


def test_traceback_is_one_log_line() -> None:
    try:
        raise ValueError("line\nbreak")
    except ValueError as error:
        caught = (type(error), error, error.__traceback__)
    record = logging.LogRecord("a.b", logging.ERROR, "x.py", 1, "what %s", ("ä\n",), caught)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    fields = json.loads(line)
    assert (fields["level"], fields["from"], fields["message"]) == ("error", "a.b", "what ä\n")
    assert "ValueError: line" in fields["error"]
    assert fields["at"].endswith("+00:00")
