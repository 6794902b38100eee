"""Requests to a server on this machine, over connections that are used again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import msgspec


class Failed(Exception):
    """The server has refused a request."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server has answered."""

    status: int
    headers: dict[str, str]
    body: bytes


class Http:
    """A client for one request at a time on each of a few connections."""

    def __init__(self, port: int, connections: int = 4, source: str | None = None) -> None:
        self._port = port
        self._local = (source, 0) if source else None
        self._free: asyncio.LifoQueue[tuple[asyncio.StreamReader, asyncio.StreamWriter] | None]
        self._free = asyncio.LifoQueue()
        for _ in range(connections):
            self._free.put_nowait(None)

    async def get(self, path: str, **headers: str) -> Answer:
        """What there is at a path."""
        return await self._ask("GET", path, b"", headers)

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """What the server answers, whatever that is."""
        return await self._ask(method, path, body, headers)

    async def post(self, path: str, body: dict[str, Any], token: str = "") -> Any:
        """The JSON that a request is answered with. Raises `Failed`."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        answer = await self._ask("POST", path, msgspec.json.encode(body), headers)
        if answer.status >= 300:
            raise Failed(f"POST {path}: {answer.status} {answer.body.decode()[:300]}")
        return msgspec.json.decode(answer.body)

    async def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        request = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body
        used = await self._free.get()
        free = None
        try:
            if used is not None:
                try:
                    answer, free = await _exchange(*used, request), used
                    return answer
                except (ConnectionError, asyncio.IncompleteReadError):
                    pass  # the server hangs up when nothing is asked for long
            new = await asyncio.open_connection("127.0.0.1", self._port, local_addr=self._local)
            answer, free = await _exchange(*new, request), new
            return answer
        finally:
            self._free.put_nowait(free)

    async def close(self) -> None:
        """Hang up."""
        while not self._free.empty():
            if found := self._free.get_nowait():
                found[1].close()


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> Answer:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(int(first.split()[1]), headers, body)
