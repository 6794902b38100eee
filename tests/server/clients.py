"""HTTP clients: programs with a token, browsers with a cookie, and anonymous ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import connect

from tests.server.live import TIMEOUT, Json, LiveSocket


@dataclass(frozen=True, slots=True)
class Response:
    """A response of the server."""

    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def refusal(self) -> Refusal:
        """The error in this response. Every error has the same three fields."""
        assert self.status >= 400, f"the request was not refused: {self.body[:200]!r}"
        problem = self.json
        assert sorted(problem) == ["code", "detail", "status_code"], problem
        assert problem["status_code"] == self.status
        assert problem["detail"].strip(), problem
        return Refusal(self.status, problem["code"], problem["detail"])


def send_request(
    url: str, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Send a request on a connection of its own. A body other than bytes is sent as JSON."""
    sent = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    connection = HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT)
    try:
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return Response(response.status, response.headers, response.read())
    finally:
        connection.close()


class Refusal(Exception):
    """An error response."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A new table and its invite key."""

    id: str
    invite: str


class Client:
    """A client of a server, by itself without authentication."""

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        return {}

    def request(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Send a request, and return the response even if it is an error."""
        return send_request(self.url, method, path, body, {**self.headers, **(headers or {})})

    def get(self, path: str) -> Any:
        return self._check(self.request("GET", path))

    def post(self, path: str, body: object = None) -> Any:
        return self._check(self.request("POST", path, body))

    def patch(self, path: str, body: object = None) -> Any:
        return self._check(self.request("PATCH", path, body))

    @staticmethod
    def _check(response: Response) -> Any:
        if response.status >= 400:
            raise response.refusal
        return response.json

    def refused(self, method: str, path: str, body: object = None) -> Refusal:
        """Send a request that must fail, and return the error."""
        return self.request(method, path, body).refusal

    def open(self, game: str, seats: Sequence[str | Json], **options: object) -> OpenedTable:
        """Open a table. A seat is `me`, `open`, a bot's level, or a seat object of the protocol."""
        requested = [seat_request(seat) if isinstance(seat, str) else seat for seat in seats]
        return OpenedTable(**self.post("/api/tables", {"game": game, "seats": requested, **options}))

    def join(self, table: OpenedTable, **fields: object) -> Json:
        """Take a seat by the invite link."""
        view: Json = self.post(f"/api/tables/{table.id}/join", {"invite": table.invite, **fields})
        return view

    def view(self, table_id: str) -> Json:
        """Return this client's view of a table."""
        view: Json = self.get(f"/api/tables/{table_id}")
        return view

    def live(self, table_id: str, after: int | None = None) -> LiveSocket:
        """Open a WebSocket to a table; a context manager."""
        query = "" if after is None else f"?after={after}"
        address = f"{self.url.replace('http', 'ws', 1)}/api/tables/{table_id}/live{query}"
        return LiveSocket(
            connect(
                address,
                additional_headers=self.headers,
                open_timeout=TIMEOUT,
                close_timeout=2,
                max_size=None,
                max_queue=None,  # unread messages must not block the connection
                proxy=None,
            )
        )


class Guest(Client):
    """A guest with a token, like a program."""

    def __init__(self, url: str, name: str = "Ann") -> None:
        super().__init__(url)
        self.token = ""
        created = self.post("/api/guests", {"name": name})
        self.id: str = created["id"]
        self.name: str = created["name"]
        self.token = created["token"]

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def at(self, url: str) -> Guest:
        """Return the same guest at another process of the server."""
        same = Guest.__new__(Guest)
        Client.__init__(same, url)
        same.token, same.id, same.name = self.token, self.id, self.name
        return same


class Browser(Client):
    """A browser with a page: sends the cookie set by the server, and the origin of the page."""

    def __init__(self, url: str, origin: str | None = None) -> None:
        super().__init__(url)
        self.origin = url if origin is None else origin
        self.cookie = ""
        self.get("/api/me")

    @property
    def headers(self) -> dict[str, str]:
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        return {"Origin": self.origin, **cookie}

    def request(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        response = super().request(method, path, body, headers)
        if set_cookie := response.headers["set-cookie"]:
            self.cookie = set_cookie.partition(";")[0]
        return response


def seat_request(word: str) -> Json:
    """Return the seat object for `me`, `open` or a bot's level."""
    return {"kind": word} if word in ("me", "open") else {"kind": "bot", "level": word}
