"""Write graded moments as annotations of QVHighlights: a line for each query and video, with the relevant windows.

QVHighlights asks a query of one video and knows no grades: a window is one if its relevance reaches a threshold. Its
saliency scores are people's grades of clips of two seconds, which nobody gave here, so there are none.
"""

from itertools import groupby
from typing import Any

import msgspec

from backend.campaign.nouns import Scale, Split
from backend.campaign.release.export.model import Contents

SAID = """`val.jsonl` and `test.jsonl` have a line for each query and each video in which a moment of relevance
{threshold} or more was found: `qid`, `query`, `vid`, `duration` and `relevant_windows` in seconds, as QVHighlights has
them. `qid` is the number of the line's first pair, because one query is asked of several videos; `of_query`, and for
each window `pair_ids` and `relevances`, lead back to the release. Windows may overlap. There are no `saliency_scores`
and no `relevant_clip_ids`: nobody graded clips of two seconds. Of {queries:,} queries {without:,} have no such moment,
and no line.
"""


def usual_threshold(scale: Scale) -> int:
    """From which relevance on a moment is a window where nobody says it: the best two grades, but never 0."""
    return max(1, scale.highest - 1)


def files(contents: Contents, threshold: int) -> dict[str, bytes]:
    """The files of this form, by name."""
    return {
        f"{split.value}.jsonl": b"".join(
            msgspec.json.encode(line) + b"\n" for query in contents.truth[split] for line in lines(query, threshold)
        )
        for split in (Split.VAL, Split.TEST)
    }


def lines(query: dict[str, Any], threshold: int) -> list[dict[str, Any]]:
    """The lines of a query, by the rank of each video's first window; windows by their start.

    >>> moments = [{"pair_id": n, "video_name": video, "timestamp": [n, n + 2], "duration": 9.0, "relevance": grade}
    ...            for n, (video, grade) in enumerate([("a", 3), ("b", 4), ("a", 4), ("a", 1)])]
    >>> for line in lines({"query_id": 7, "query": "a dog", "relevant_moment": moments}, 3):
    ...     print(line["qid"], line["vid"], line["relevant_windows"], line["relevances"])
    0 a [[0, 2], [2, 4]] [3, 4]
    1 b [[1, 3]] [4]
    """
    found = [moment for moment in query["relevant_moment"] if moment["relevance"] >= threshold]
    first: dict[str, int] = {}
    for moment in found:
        first.setdefault(moment["video_name"], moment["pair_id"])
    place = {video: n for n, video in enumerate(first)}
    found.sort(key=lambda moment: (place[moment["video_name"]], moment["timestamp"], moment["pair_id"]))
    made = []
    for video, group in groupby(found, key=lambda moment: moment["video_name"]):
        windows = list(group)
        made.append(
            {
                "qid": first[video],
                "query": query["query"],
                "duration": windows[0]["duration"],
                "vid": video,
                "relevant_windows": [moment["timestamp"] for moment in windows],
                "of_query": query["query_id"],
                "pair_ids": [moment["pair_id"] for moment in windows],
                "relevances": [moment["relevance"] for moment in windows],
            }
        )
    return made


def said(contents: Contents, threshold: int) -> str:
    """What a reader of the folder must know."""
    asked = [query for documents in contents.truth.values() for query in documents]
    without = sum(not lines(query, threshold) for query in asked)
    return SAID.format(threshold=threshold, queries=len(asked), without=without)
