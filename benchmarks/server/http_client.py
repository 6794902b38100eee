"""An HTTP client for a local server, with persistent connections."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import msgspec


class RequestFailed(Exception):
    """The server refused a request."""


@dataclass(frozen=True, slots=True)
class Response:
    """HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes


class Http:
    """Client with one request at a time on each of a few connections."""

    def __init__(self, port: int, connections: int = 4, source: str | None = None) -> None:
        self._port = port
        self._local = (source, 0) if source else None
        self._free: asyncio.LifoQueue[tuple[asyncio.StreamReader, asyncio.StreamWriter] | None]
        self._free = asyncio.LifoQueue()
        for _ in range(connections):
            self._free.put_nowait(None)

    async def get(self, path: str, **headers: str) -> Response:
        """Send a GET request and return the response."""
        return await self._request("GET", path, b"", headers)

    async def request(self, method: str, path: str, body: bytes = b"", **headers: str) -> Response:
        """Send a request and return the response, whatever its status."""
        return await self._request(method, path, body, headers)

    async def post(self, path: str, body: dict[str, Any], token: str = "") -> Any:
        """Send a POST request and return the decoded JSON. Raises `RequestFailed`."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        response = await self._request("POST", path, msgspec.json.encode(body), headers)
        if response.status >= 300:
            raise RequestFailed(f"POST {path}: {response.status} {response.body.decode()[:300]}")
        return msgspec.json.decode(response.body)

    async def _request(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Response:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        request = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body
        reused = await self._free.get()
        free = None
        try:
            if reused is not None:
                try:
                    response, free = await _exchange(*reused, request), reused
                    return response
                except (ConnectionError, asyncio.IncompleteReadError):
                    pass  # the server has closed the idle connection
            new = await asyncio.open_connection("127.0.0.1", self._port, local_addr=self._local)
            response, free = await _exchange(*new, request), new
            return response
        finally:
            self._free.put_nowait(free)

    async def close(self) -> None:
        """Close all connections."""
        while not self._free.empty():
            if connection := self._free.get_nowait():
                connection[1].close()


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> Response:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Response(int(first.split()[1]), headers, body)
