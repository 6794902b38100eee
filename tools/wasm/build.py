"""Build the WebAssembly files of all layouts.

Each file describes itself: its custom section `axio` holds, as JSON, the exported functions with their
parameters and the fields of the records that they take.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import axiogames
from axiogames.games import GAMES, find_variant, game
from axiogames.games.protocol import MAX_PLAYERS
from axiogames.games.variant import Variant
from axiogames.players.evaluation.weights import load_weights

from .exports import EXPORTS
from .sources import sources_digest

OUTPUT = Path(axiogames.__file__).parent / "web" / "wasm"
MANIFEST = "manifest.json"
SECTION = "axio"


@dataclass(frozen=True, order=True)
class Layout:
    """A board layout, which has one WebAssembly file: its name, and an example of a variant."""

    name: str
    game: str
    players: int

    @property
    def variant(self) -> Variant:
        """A variant with this layout."""
        return find_variant(self.game, self.players)

    @property
    def digest(self) -> str:
        """The digest of the sources of its loops."""
        return sources_digest(self.variant.kernels, EXPORTS)


def all_variants() -> Iterator[Variant]:
    """Yield every game with every number of players and set of options."""
    for name in GAMES:
        options = [option.name for option in game(name).options]
        for players in range(1, MAX_PLAYERS + 1):
            for size in range(len(options) + 1):
                for chosen in combinations(options, size):
                    yield find_variant(name, players, dict.fromkeys(chosen, True))


def layout_name(variant: Variant) -> str:
    """Return the name of a variant's layout, as in file names: `axio-81` for 81 cells."""
    words = re.findall(r"[a-z0-9]+", variant.kernels.label)
    return "-".join(word for word in words if word != "cells")


def variant_name(variant: Variant) -> str:
    """Return the name of a variant, as in file names: game, players and options."""
    return "-".join((variant.game.id, str(variant.players), *variant.options))


def layouts() -> list[Layout]:
    """Return all layouts."""
    found = {layout_name(v): Layout(layout_name(v), v.game.id, v.players) for v in all_variants()}
    return list(found.values())


def build_layout(layout: Layout) -> bytes:
    """Return the WebAssembly file of a layout. Call it in a process of its own, see `lower`."""
    from .emit import emit
    from .lower import lower_loops

    lowered = lower_loops(layout.variant.kernels, EXPORTS)
    description = {
        "layout": layout.name,
        "exports": {
            export.name: {"parameters": export.parameters, "results": export.results}
            for export in lowered.exports
        },
        "records": {name: describe_record(dtype) for name, dtype in lowered.records.items()},
    }
    with tempfile.TemporaryDirectory() as folder:
        linked = emit(lowered.source, tuple(export.name for export in lowered.exports), Path(folder))
    return linked + custom_section(SECTION, json.dumps(description, separators=(",", ":")).encode())


def describe_record(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return size and fields of a record: the name of each with element type, offset and shape."""
    assert dtype.fields is not None, "a record has fields"
    fields = {}
    for name in dtype.names or ():
        kind, offset = dtype.fields[name][:2]
        if name != "pad":
            fields[name] = [str(kind.base), offset, list(kind.shape)]
    return {"size": dtype.itemsize, "fields": fields}


def custom_section(name: str, content: bytes) -> bytes:
    """Return a custom section of a WebAssembly module."""
    title = name.encode()
    body = _leb128(len(title)) + title + content
    return b"\0" + _leb128(len(body)) + body


def _leb128(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def describe_variant(variant: Variant) -> dict[str, Any]:
    """Return the data of a variant: the records that its rules and players read."""
    return {
        "game": variant.game.id,
        "players": variant.players,
        "options": variant.options,
        "layout": layout_name(variant),
        "constants": _base64(variant.constants),
        "opening": _base64(variant.opening),
        "weights": _base64(load_weights(variant)),
    }


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def manifest(built: dict[str, bytes], sources: Iterable[Layout]) -> bytes:
    """Return the manifest: the digests of each file and of the sources that it was built from."""
    entries = {
        layout.name: {"sha256": hashlib.sha256(built[layout.name]).hexdigest(), "sources": layout.digest}
        for layout in sources
    }
    return json.dumps({"layouts": dict(sorted(entries.items()))}, indent=1).encode() + b"\n"


def write_files(built: dict[str, bytes], chosen: Sequence[Layout], output: Path = OUTPUT) -> None:
    """Write files of layouts, of all variants, and the manifest; delete files of layouts that are gone."""
    output.mkdir(exist_ok=True)
    (output / "variants").mkdir(exist_ok=True)
    files = {f"{name}.wasm": content for name, content in built.items()}
    for variant in all_variants():
        text = json.dumps(describe_variant(variant), separators=(",", ":"))
        files[f"variants/{variant_name(variant)}.json"] = text.encode() + b"\n"
    files[MANIFEST] = manifest(built, chosen)
    for name, content in files.items():
        (output / name).write_bytes(content)
    for path in output.rglob("*"):
        if path.is_file() and path.relative_to(output).as_posix() not in files:
            path.unlink()
