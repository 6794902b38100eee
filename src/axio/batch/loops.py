"""The loops of a batch by name, and how a crew shares them."""

from __future__ import annotations

from functools import cache

from ..engine.batches import LOOPS as TEMPLATES
from ..games.variant import Variant
from .crew import Shared, shared

LOOPS = {template.__name__.removesuffix("_all"): template for template in TEMPLATES}


@cache
def shared_loop(variant: Variant, name: str) -> Shared:
    """The loop of this name for a crew, which says itself which games are whose."""
    kernels, template = variant.kernels, LOOPS[name]
    *arguments, _, _ = kernels.examples(template)
    return shared(kernels[template], name, tuple(arguments))
