"""Random: a video, all equally likely, and in it two times, all equally likely; the earlier one is the start.

It has seen how long videos last, and nothing else. So the length of a span has the density `2 (1 - l)` over the share l
of its video, mean 1/3; that moments are shorter than that is knowledge, which `prior` has.
"""

from backend.core.progress import Steps
from backend.systems.model import TOP, Answers, SearchTask, generator, in_ms, require_searchable


def answer(task: SearchTask, seed: int = 0, *, top: int = TOP, progress: Steps | None = None) -> Answers:
    """`top` independent draws for each query, of falling score.

    Raises:
        InputError: see `require_searchable`.

    >>> found = answer(SearchTask("t", {"q": "a man"}, {"v": 10.0}), top=2)["q"]
    >>> [one.score for one in found], all(0 <= one.start_s < one.end_s <= 10 for one in found)
    ([1.0, 0.5], True)
    """
    require_searchable(task)
    videos = task.videos
    found: Answers = {}
    for done, query in enumerate(task.queries, start=1):
        draw = generator(seed, query)
        chosen = draw.integers(len(videos), size=top)
        shares = draw.random((top, 2))
        shares.sort(axis=1)
        found[query] = [
            in_ms(name, start * task.durations[name], end * task.durations[name], 1 - rank / top)
            for rank, (name, (start, end)) in enumerate(zip((videos[n] for n in chosen), shares, strict=True))
        ]
        if progress:
            progress(done, len(task.queries))
    return found
