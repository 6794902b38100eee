"""What the best of some tiles drawn by lot is worth on average, when it is known what each kind is worth."""

from __future__ import annotations

import numpy as np

from .compile import rule


@rule
def expected_best(bag, unseen, draws, sure, best, order):
    """The mean of the best of `draws` unseen tiles, or `sure` where none is better.

    `best` is what each kind is worth; `order` is room to sort in. Draws are taken with replacement: with this
    many tiles that is near enough.
    """
    kinds = len(bag)
    n = 0
    for kind in range(kinds):
        if bag[kind] > 0 and best[kind] > sure:
            at = n
            while at > 0 and best[order[at - 1]] < best[kind]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = kind
            n += 1
    mean = np.float32(0.0)
    below = np.float32(1.0)  # the chance that no draw is as good as those looked at so far
    left = np.float32(unseen)
    total = np.float32(max(unseen, 1))
    for i in range(n):
        left -= bag[order[i]]
        share = max(left / total, np.float32(0.0))
        none = np.float32(1.0)
        for _ in range(draws):
            none *= share
        mean += (below - none) * best[order[i]]
        below = none
    return mean + below * sure
