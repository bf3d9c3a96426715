"""Write relevance judgements as programs of TREC read them: a line `query 0 pair relevance`, and what each pair is.

TREC knows documents, not moments, so the pairs are the documents. A run has no pairs: `reelrank match-run` gives each
of its predictions the pair that it takes at one IoU threshold.
"""

from backend.campaign.nouns import Split
from backend.campaign.release.export.model import Contents
from backend.core.text_files import csv_text

SAID = """`val.qrels` and `test.qrels` have a line `query 0 pair relevance` for each graded moment, as trec_eval,
pytrec_eval and ir_measures read it; `val.csv` and `test.csv` say what each pair is
(`pair_id,query_id,video,start,end,relevance`), and `queries.tsv` the text of each query.

To score a run, give its predictions the pairs that they take, at one IoU threshold:

    reelrank match-run --truth val.csv --run mine.json --mu 0.5 mine.trec
    ir_measures val.qrels mine.trec nDCG@10 nDCG@20 nDCG@40

That is NDCG@K, IoU>=0.5 of TVR-Ranking, as `reelrank evaluate` computes it in preset `paper`.
"""
COLUMNS = ("pair_id", "query_id", "video", "start", "end", "relevance")


def files(contents: Contents) -> dict[str, bytes]:
    """The files of this form, by name."""
    made: dict[str, bytes] = {}
    texts: list[str] = []
    for split in (Split.VAL, Split.TEST):
        lines: list[str] = []
        rows: list[tuple[object, ...]] = []
        for query in contents.truth[split]:
            number = query["query_id"]
            texts.append(f"{number}\t{' '.join(query['query'].split())}\n")
            for moment in query["relevant_moment"]:
                lines.append(f"{number} 0 {moment['pair_id']} {moment['relevance']}\n")
                span = (moment["video_name"], *moment["timestamp"])
                rows.append((moment["pair_id"], number, *span, moment["relevance"]))
        made[f"{split.value}.qrels"] = "".join(lines).encode()
        made[f"{split.value}.csv"] = csv_text(COLUMNS, rows).encode()
    return {**made, "queries.tsv": "".join(texts).encode()}
