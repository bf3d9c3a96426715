"""Training sets are written as they are found: whole or not at all, and again from where encoding stopped."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.corpus.captions.rows import searchable_captions
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import write_pseudo_train
from backend.campaign.selection.candidates import choosing
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project, open_project
from support import MOMENTS, NOW, WordEncoder


def test_a_training_set_is_what_brute_force_finds_in_the_form_of_the_release(
    corpus_project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_queries(corpus_project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    monkeypatch.setattr(choosing, "QUERIES_AT_ONCE", 7)  # 45 queries: the last block is not full
    write_pseudo_train(corpus_project, tmp_path / "train", tops=[1, 3, 100])
    vectors = WordEncoder().encode([moment.caption for moment in MOMENTS]).astype(np.float64)
    for top in (1, 3, 100):
        text = (tmp_path / "train" / f"train_top{top:02d}.json").read_text()
        entries = json.loads(text)
        assert len(entries) == 45
        assert text.startswith('[\n {\n  "query_id": ')
        assert text == json.dumps(entries, indent=1) + "\n"
        for entry in entries:
            scores = np.rint(vectors @ WordEncoder().encode([entry["query"]])[0].astype(np.float64) * 1e5) / 1e5
            order = np.lexsort((np.arange(48), -scores))[:top]  # moments were imported in this order
            assert entry["relevant_moment"] == [
                {
                    "video_name": MOMENTS[n].video,
                    "timestamp": [MOMENTS[n].start_s, MOMENTS[n].end_s],
                    "duration": 60.0,
                    "caption": MOMENTS[n].caption,
                    "similarity": scores[n],
                }
                for n in order
            ]


INTERRUPTED = """
import signal, sys
from collections import Counter
from pathlib import Path
from backend.campaign.release.export.freezing import write_pseudo_train
from backend.campaign.setup.project.folder import open_project
from backend.campaign.selection.candidates import choosing
from backend.campaign.corpus.captions.rows import searchable_captions
from backend.encoders import cache, sentence
from support import WordEncoder

happened = Counter()
project, out, where, times = sys.argv[1:]

def tell(what, *_):
    happened[what] += 1
    if what == where and happened[what] == int(times):
        print("in the middle", flush=True)
        signal.pause()

class Telling(WordEncoder):
    def encode(self, texts, *, progress=None):
        for text in texts:
            tell("encoding")
        return super().encode(texts)

cache.SHARD_TEXTS = 6
choosing.QUERIES_AT_ONCE = 1
sentence.load = lambda spec: Telling()
write_pseudo_train(open_project(Path(project)), Path(out), progress=tell)
print(happened["encoding"])
"""


@pytest.mark.long
@pytest.mark.parametrize(("where", "times", "again"), [("encoding", 14, 48 - 12), ("searching", 9, 0)])
def test_ctrl_c_leaves_nothing_half_written_and_the_next_run_goes_on(
    corpus_project: Project, tmp_path: Path, where: str, times: int, again: int
) -> None:
    draw_queries(corpus_project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    corpus_project.store.close()
    out = tmp_path / "train"
    command = [sys.executable, "-c", INTERRUPTED, str(corpus_project.folder), str(out), where]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [*command, str(times)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1].splitlines()[-1] == "KeyboardInterrupt"
    assert [*out.iterdir()] == []
    done = subprocess.run([*command, "0"], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == f"{again}\n"
    write_pseudo_train(open_project(corpus_project.folder), tmp_path / "whole")
    assert {file.name for file in out.iterdir()} == {"train_top01.json", "train_top20.json", "train_top40.json"}
    for file in out.iterdir():
        assert file.read_bytes() == (tmp_path / "whole" / file.name).read_bytes()


def test_captions_are_listed_in_one_pass(corpus_project: Project, tmp_path: Path) -> None:
    """Each looked through all for its rewrite: a quarter of an hour for 100,000, before anything was encoded."""
    many = 4000
    lines = (
        json.dumps({"video": "v", "start": n, "end": n + 1, "caption": f"Text {n}.", "duration": many}) + "\n"
        for n in range(many)
    )
    (tmp_path / "many.jsonl").write_text("".join(lines))
    import_corpus(corpus_project, OPERATOR, tmp_path / "many.jsonl", "jsonl", now=NOW)
    connection = corpus_project.store.db.conn
    ticks: list[None] = []
    connection.set_progress_handler(lambda: ticks.append(None), 1000)
    assert len(searchable_captions(corpus_project.store.db)) == many + len(MOMENTS)
    connection.set_progress_handler(None, 0)
    assert len(ticks) * 1000 < 100 * many  # instructions of the database
