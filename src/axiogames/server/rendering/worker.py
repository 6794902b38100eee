"""Pictures, drawn by a process of its own: `python -m axiogames.server.rendering.worker`.

A picture takes 5 ms as SVG and 200 ms as PNG, and Python's lock is held all the while: in a thread of the
server it would stop every table. So a process draws them. It reads what to draw from its standard input,
answers with bytes, and ends when its input ends. It knows nothing but what it is sent. This module is all
that it loads of the server.
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
NICENESS = 10  # nobody who plays waits for a picture
_FRAME = struct.Struct("!?Q")  # whether it is an answer rather than an error, and how many bytes follow


class Drawing(msgspec.Struct, frozen=True):
    """A picture to be drawn: what lies on a board, or a figure of a rules page by its name."""

    game: str
    players: int = 2
    options: tuple[str, ...] = ()
    content: Content | None = None
    figure: str = ""
    dark: bool = False
    png: bool = False


def draw(wanted: Drawing) -> bytes:
    """Return a picture as the bytes of an SVG or PNG file."""
    if wanted.content is None:
        text = figure(wanted.game, wanted.figure, dark=wanted.dark)
    else:
        variant = find_variant(wanted.game, wanted.players, dict.fromkeys(wanted.options, True))
        text = svg.render(variant.drawing.scene(wanted.content), dark=wanted.dark)
    return render_png(text, width=PNG_WIDTH) if wanted.png else text.encode()


def write(pipe: IO[bytes], body: bytes, *, good: bool = True) -> None:
    """Send bytes over a pipe."""
    pipe.write(_FRAME.pack(good, len(body)) + body)
    pipe.flush()


def read(pipe: IO[bytes]) -> tuple[bool, bytes]:
    """Return what the other side has sent, and whether it is an answer. Raises `EOFError`."""
    head = pipe.read(_FRAME.size)
    if len(head) < _FRAME.size:
        raise EOFError
    good, size = _FRAME.unpack(head)
    body = pipe.read(size)
    if len(body) < size:
        raise EOFError
    return good, body


def main() -> None:
    """Draw until there is nothing more to draw."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever is printed is no answer
    decoder = msgspec.json.Decoder(Drawing)
    while True:
        try:
            _, request = read(requests)
        except EOFError:
            return
        try:
            answer, good = draw(decoder.decode(request)), True
        except Exception as error:
            answer, good = f"{type(error).__name__}: {error}".encode(), False
        try:
            write(answers, answer, good=good)
        except BrokenPipeError:
            return  # the server is gone


if __name__ == "__main__":
    main()
