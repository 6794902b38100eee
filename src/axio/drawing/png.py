"""A picture as PNG."""

from __future__ import annotations


def render(svg: str, *, width: int) -> bytes:
    """Turn an SVG picture into a PNG that is `width` pixels wide."""
    # Imported here: most runs of the program never make a PNG.
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width))
