"""A first look at all scores in bfloat16, for processors that multiply it several times as fast as float32.

Nothing is decided by it: it only rules out what cannot be among the best whatever the rounding did, so that what a
search finds is the same with and without it. On a processor with AMX the product takes a seventh of numpy's time.
"""

import sys
import time
from collections.abc import Callable

from backend.encoders.selection import Integers
from backend.encoders.sentence import FloatArray

_ROUNDING = 2.0**-8
"""By how much of itself a number changes at most when it is rounded to bfloat16."""
_SUMMING = 2.0**-22
"""The same for each sum of a product, which is reckoned in float32; four times as much as it can be."""
_PAIRS_WITH_TORCH, _PAIRS_WITHOUT = 1 << 24, 1 << 30
"""Scores from which on it is worth trying, where torch is loaded already, and where it is to be loaded for this."""
_TIMES_AS_FAST = 2


def pays(vectors: FloatArray, queries: int) -> bool:
    """Whether so many queries are answered sooner with a first look in bfloat16; this machine is asked by trying."""
    if len(vectors) * queries < (_PAIRS_WITH_TORCH if "torch" in sys.modules else _PAIRS_WITHOUT):
        return False
    import torch

    some = vectors[:4096]
    few, across = torch.from_numpy(some[:256]).bfloat16(), torch.from_numpy(some).bfloat16().T.contiguous()
    in_bfloat16, in_float32 = _seconds(lambda: torch.mm(few, across)), _seconds(lambda: some[:256] @ some.T)
    return _TIMES_AS_FAST * in_bfloat16 < in_float32


def _seconds(work: Callable[[], object]) -> float:
    """The least of a few times by the clock, the first of which warms up."""
    took = []
    for _ in range(4):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took)


class Coarse:
    """The captions of a corpus in bfloat16."""

    def __init__(self, vectors: FloatArray, at_once: int) -> None:
        """Round them, and note by how much that moved them at most.

        Args:
            vectors: float32 `(captions, dim)`, contiguous.
            at_once: For how many queries there is room in one product.
        """
        import torch

        exact = torch.from_numpy(vectors)
        rounded = exact.bfloat16()
        # Lying across it is multiplied in half the time.
        self._captions = rounded.T.contiguous()
        self._moved = float(rounded.float().sub_(exact).norm(dim=1).max())
        self._longest = float(exact.norm(dim=1).max()) + self._moved
        self._room = torch.empty((at_once, len(vectors)), dtype=torch.bfloat16)

    def nearest(self, queries: FloatArray, depth: int, size: int) -> tuple[Integers, Integers, FloatArray]:
        """For each query all captions that may be among the `depth` with the largest inner products.

        Let e be what the roundings of a query q and of any caption c change at most in their product:
        `|q - q'| |c'| + |q| |c - c'|` and the error of the sum. If n is the `depth`-th largest of the products in
        bfloat16, `depth` captions score at least t = n - e - 2^-8 |n|, so nothing that scores less than t is needed;
        and what scores t or more has a product in bfloat16 of at least t - e, rounded.

        Args:
            queries: float32 `(queries, dim)`, not more than there is room for.
            depth: fewer than there are captions.
            size: captions in a group, of which there are at least `depth`; see `backend.encoders.search`.

        Returns:
            The numbers of queries and of captions, as pairs in no order; for each query the score that nothing reaches
            among what is not there.
        """
        import torch

        exact = torch.from_numpy(queries)
        rounded = exact.bfloat16()
        scores = torch.mm(rounded, self._captions, out=self._room[: len(queries)])
        groups = scores.shape[1] // size
        grouped = scores[:, : size * groups].view(len(queries), size, groups)
        left_over = scores[:, size * groups :]
        best = torch.cat([grouped.amax(dim=1), left_over], dim=1).float()
        last = best.topk(depth, dim=1, sorted=False).values.amin(dim=1)
        off = (rounded.float() - exact).norm(dim=1) * self._longest
        off += exact.norm(dim=1) * (self._moved + _SUMMING * queries.shape[1] * self._longest)
        reached = last - off - _ROUNDING * last.abs()
        needed = (reached - off - _ROUNDING * (reached - off).abs())[:, None]
        query, group = (best[:, :groups] >= needed).nonzero(as_tuple=True)
        hit, member = (grouped[query, :, group].float() >= needed[query]).nonzero(as_tuple=True)
        alone, rest = (left_over.float() >= needed).nonzero(as_tuple=True)
        caption = torch.cat([group[hit] + groups * member, rest + size * groups])
        return torch.cat([query[hit], alone]).numpy(), caption.numpy(), reached.numpy()
