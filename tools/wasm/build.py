"""Build the WebAssembly files of all layouts.

Each file describes itself: its custom section `rules` holds, as JSON, the exported functions with their
parameters and the fields of the records that they take.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import axiogames
from axiogames.games import find_variant
from axiogames.games.runtime.evaluation import MAX_POINTS
from axiogames.games.variant import Variant

from .exports import EXPORTS
from .sources import sources_digest
from .variants import all_variants, describe_variant, layout_name, variant_name

OUTPUT = Path(axiogames.__file__).parent / "web" / "wasm"
INDEX = "index.json"  # what the page loads for each variant
SOURCES = "sources.json"  # what each file was built from
SECTION = "rules"
BUILT = re.compile(r"[a-z0-9-]+\.[0-9A-F]{8}\.(wasm|json)(\.br)?")


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
        "constants": {"MAX_POINTS": MAX_POINTS},
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


def read_sources(output: Path = OUTPUT) -> dict[str, Any]:
    """Return the file and the digest of the sources of each built layout."""
    try:
        entries: dict[str, Any] = json.loads((output / SOURCES).read_bytes())
    except FileNotFoundError:
        return {}
    return entries


def is_current(layout: Layout, output: Path = OUTPUT) -> bool:
    """Return whether the file of a layout was built from the current sources."""
    entry = read_sources(output).get(layout.name)
    return entry is not None and entry["sources"] == layout.digest and (output / entry["file"]).exists()


def write_files(built: dict[Layout, bytes], output: Path = OUTPUT) -> None:
    """Write built layouts, the data of all variants, and the index; delete what is out of use."""
    output.mkdir(parents=True, exist_ok=True)
    names = {layout.name for layout in layouts()}
    entries = {name: entry for name, entry in read_sources(output).items() if name in names}
    for layout, content in built.items():
        name = hashed_name(layout.name, content, "wasm")
        (output / name).write_bytes(content)
        entries[layout.name] = {"file": name, "sources": layout.digest}
    variants = {}
    for variant in all_variants():
        if (entry := entries.get(layout_name(variant))) is None:
            continue  # only some of the layouts have been built so far
        data = variant_bytes(variant)
        name = hashed_name(variant_name(variant), data, "json")
        (output / name).write_bytes(data)
        rules = hashlib.sha256((output / entry["file"]).read_bytes() + data).hexdigest()[:16]
        variants[variant_name(variant)] = {"data": name, "module": entry["file"], "rules": rules}
    _write_json(output / SOURCES, dict(sorted(entries.items())))
    _write_json(output / INDEX, {"variants": variants})
    for name in unused_files(output):
        (output / name).unlink()


def hashed_name(name: str, content: bytes, suffix: str) -> str:
    """Return the name of a file with a hash of its content, so that browsers can keep the file forever."""
    return f"{name}.{hashlib.sha256(content).hexdigest()[:8].upper()}.{suffix}"


def variant_bytes(variant: Variant) -> bytes:
    """Return the file of a variant."""
    return json.dumps(describe_variant(variant), separators=(",", ":")).encode() + b"\n"


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def used_files(output: Path = OUTPUT) -> set[str]:
    """Return the names of the files that the index and the sources refer to."""
    index = json.loads((output / INDEX).read_bytes())["variants"].values()
    files = {entry[kind] for entry in index for kind in ("data", "module")}
    files |= {entry["file"] for entry in read_sources(output).values()}
    return {INDEX, SOURCES, *files, *(f"{name}.br" for name in files)}


def unused_files(output: Path = OUTPUT) -> set[str]:
    """Return the names of the files that nothing refers to."""
    built = {path.name for path in output.iterdir() if BUILT.fullmatch(path.name)}
    return built - used_files(output)


def module_file(variant: Variant, output: Path = OUTPUT) -> Path:
    """Return the WebAssembly file of a variant."""
    return output / str(read_sources(output)[layout_name(variant)]["file"])
