"""Build the WebAssembly files of all layouts.

Each file describes itself: its custom section `axio` holds, as JSON, the exported functions with their
parameters and the fields of the records that they take.
"""

from __future__ import annotations

import hashlib
import json
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


def read_manifest(output: Path) -> dict[str, Any]:
    """Return the entries of the built layouts, none if there is no manifest."""
    try:
        entries: dict[str, Any] = json.loads((output / MANIFEST).read_bytes())["layouts"]
    except FileNotFoundError:
        return {}
    return entries


def is_current(layout: Layout, output: Path = OUTPUT) -> bool:
    """Return whether the file of a layout was built from the current sources."""
    entry = read_manifest(output).get(layout.name, {})
    return entry.get("sources") == layout.digest and (output / f"{layout.name}.wasm").exists()


def write_files(built: dict[Layout, bytes], output: Path = OUTPUT) -> None:
    """Write built layouts, the data of all variants, and the manifest; delete what is out of use."""
    (output / "variants").mkdir(parents=True, exist_ok=True)
    names = {layout.name for layout in layouts()}
    entries = {name: entry for name, entry in read_manifest(output).items() if name in names}
    for layout, content in built.items():
        (output / f"{layout.name}.wasm").write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        entries[layout.name] = {"sha256": digest, "sources": layout.digest}
    for variant in all_variants():
        text = json.dumps(describe_variant(variant), separators=(",", ":")) + "\n"
        (output / "variants" / f"{variant_name(variant)}.json").write_text(text, encoding="utf-8")
    text = json.dumps({"layouts": dict(sorted(entries.items()))}, indent=1) + "\n"
    (output / MANIFEST).write_text(text, encoding="utf-8")
    for name in unused_files(output):
        (output / name).unlink()


def expected_files() -> set[str]:
    """Return the names of all files of a complete build."""
    variants = {f"variants/{variant_name(variant)}.json" for variant in all_variants()}
    return {MANIFEST, *variants, *(f"{layout.name}.wasm" for layout in layouts())}


def unused_files(output: Path = OUTPUT) -> set[str]:
    """Return the names of the files that no layout and no variant has."""
    files = {path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()}
    return files - expected_files()
