"""Rendering process: `python -m axiogames.server.rendering.worker`.

A picture takes 5 ms as SVG and 200 ms as PNG, during which the GIL is held: a thread of the server would
block every table. The process reads requests from standard input, answers on standard output, and ends with
its input. It knows only what the requests contain, and imports no other module of the server.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from typing import IO

import msgspec

from ...drawing import svg
from ...drawing.scene import Content
from ...drawing.svg import render_png
from ...games import figure, find_variant

PNG_WIDTH = 1600
NICENESS = 10  # players do not wait for pictures
_HEADER = struct.Struct("!?Q")  # success flag, number of bytes that follow


class RenderRequest(msgspec.Struct, frozen=True):
    """A picture to render: the content of a board, or a figure of a rules page by name."""

    game: str
    players: int = 2
    options: tuple[str, ...] = ()
    content: Content | None = None
    figure: str = ""
    dark: bool = False
    png: bool = False


def render(request: RenderRequest) -> bytes:
    """Return a picture as an SVG or PNG file."""
    if request.content is None:
        text = figure(request.game, request.figure, dark=request.dark)
    else:
        variant = find_variant(request.game, request.players, dict.fromkeys(request.options, True))
        text = svg.render(variant.drawing.scene(request.content), dark=request.dark)
    return render_png(text, width=PNG_WIDTH) if request.png else text.encode()


def write_frame(pipe: IO[bytes], body: bytes, *, success: bool = True) -> None:
    """Write a frame: header and body."""
    pipe.write(_HEADER.pack(success, len(body)) + body)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> tuple[bool, bytes]:
    """Read a frame, and return its success flag and body. Raises `EOFError`."""
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    success, size = _HEADER.unpack(header)
    body = pipe.read(size)
    if len(body) < size:
        raise EOFError
    return success, body


def main() -> None:
    """Render requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends this process
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep printed text out of the answers
    decoder = msgspec.json.Decoder(RenderRequest)
    while True:
        try:
            _, frame = read_frame(requests)
        except EOFError:
            return
        try:
            answer, success = render(decoder.decode(frame)), True
        except Exception as error:
            answer, success = f"{type(error).__name__}: {error}".encode(), False
        try:
            write_frame(answers, answer, success=success)
        except BrokenPipeError:
            return  # the server has ended


if __name__ == "__main__":
    main()
