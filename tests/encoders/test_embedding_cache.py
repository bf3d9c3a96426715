"""The vector cache: one encoding per text and encoder, whatever happens to the files."""

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from backend.core.errors import EncoderUnavailable
from backend.core.progress import Steps
from backend.core.where import HERE, Where, placed, where_of
from backend.encoders import cache
from backend.encoders.cache import SHARD_TEXTS, encode_cached
from backend.encoders.sentence import load, resolve
from units import Letters


class Counting:
    """An encoder whose vectors follow from identity and text; remembers what it was asked."""

    def __init__(self, identity: str = "one", dim: int = 6) -> None:
        self.identity = identity
        self.dim = dim
        self.asked: list[str] = []

    def vector(self, text: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(f"{self.identity} {text}".encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=self.dim).astype(np.float32)
        return vector / np.linalg.norm(vector)

    def encode(self, texts: Sequence[str], *, progress: Steps | None = None) -> np.ndarray:
        self.asked += texts
        if progress is not None:
            progress(len(texts), len(texts))
        return np.array([self.vector(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dim)


WORDS = ["ten", "words", "of", "unlike", "lengths", "to", "be", "encoded", "anywhere", "today"]
TEXTS = ["b", "a", "b", "", "ein Mädchen lacht", "女の人が歩く", "a\x00", "a"]


def expected(encoder: Counting, texts: Sequence[str]) -> np.ndarray:
    return np.array([encoder.vector(text) for text in texts])


def test_each_text_is_encoded_once_and_given_back_in_order(tmp_path: Path) -> None:
    encoder = Counting()
    np.testing.assert_array_equal(encode_cached(encoder, TEXTS, tmp_path), expected(encoder, TEXTS))
    assert sorted(encoder.asked) == sorted(set(TEXTS))
    again = Counting()
    np.testing.assert_array_equal(encode_cached(again, TEXTS[::-1], tmp_path), expected(again, TEXTS[::-1]))
    assert again.asked == []
    more = Counting()
    np.testing.assert_array_equal(encode_cached(more, [*TEXTS, "c"], tmp_path), expected(more, [*TEXTS, "c"]))
    assert more.asked == ["c"]
    assert encode_cached(again, [], tmp_path).shape == (0, 6)


def test_encoders_never_see_each_others_vectors(tmp_path: Path) -> None:
    one, two = Counting("one"), Counting("two")
    encode_cached(one, TEXTS, tmp_path)
    np.testing.assert_array_equal(encode_cached(two, TEXTS, tmp_path), expected(two, TEXTS))
    assert sorted(two.asked) == sorted(set(TEXTS))
    wider = Counting("one", dim=7)  # the same name with another width can only be a lie; still no mix-up
    assert encode_cached(wider, TEXTS, tmp_path).shape == (len(TEXTS), 7)


@pytest.mark.parametrize(
    "harm",
    [
        lambda shard: shard.unlink(),
        lambda shard: shard.write_bytes(b""),
        lambda shard: shard.write_bytes(shard.read_bytes()[:-5]),
        lambda shard: shard.write_bytes(b"no numpy file at all"),
        lambda shard: np.save(shard, np.zeros(3)),
    ],
    ids=["deleted", "empty", "cut short", "garbage", "another array"],
)
def test_a_harmed_shard_is_encoded_again(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    encode_cached(Counting(), TEXTS, tmp_path)
    (shard,) = tmp_path.rglob("*.npy")
    harm(shard)
    again = Counting()
    np.testing.assert_array_equal(encode_cached(again, TEXTS, tmp_path), expected(again, TEXTS))
    assert len(again.asked) == len(set(TEXTS))
    healed = Counting()
    encode_cached(healed, TEXTS, tmp_path)
    assert healed.asked == []


def test_what_was_done_before_a_failure_is_kept(tmp_path: Path) -> None:
    class Failing(Counting):
        def encode(self, texts: Sequence[str], *, progress: Steps | None = None) -> np.ndarray:
            if self.asked:
                raise KeyboardInterrupt
            return super().encode(texts)

    texts = [f"text {number}" for number in range(SHARD_TEXTS + 3)]
    with pytest.raises(KeyboardInterrupt):
        encode_cached(Failing(), texts, tmp_path)
    rest = Counting()
    encode_cached(rest, texts, tmp_path)
    assert len(rest.asked) == 3


def test_a_shard_appears_only_when_it_is_whole_and_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        encode_cached(Counting(), TEXTS, tmp_path)
    assert list(tmp_path.rglob("*.npy")) == []


INTERRUPTED = """
import signal, sys
from pathlib import Path
import numpy as np
from backend.encoders import cache

class Counting:
    identity, dim = "one", 4
    def encode(self, texts, *, progress=None):
        global encoded
        for text in texts:
            encoded += 1
            if encoded == int(sys.argv[2]):
                print("in the middle of a shard", flush=True)
                signal.pause()
        return np.array([[float(text), 0, 0, 1] for text in texts], dtype=np.float32)

encoded = 0
cache.SHARD_TEXTS = 50
vectors = cache.encode_cached(Counting(), [str(n) for n in range(2000)], Path(sys.argv[1]))
assert vectors[:, 0].tolist() == list(range(2000))
print(encoded)
"""


@pytest.mark.long
def test_ctrl_c_loses_no_more_than_what_was_under_way(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    process = subprocess.Popen([*command, "1020"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1].splitlines()[-1] == "KeyboardInterrupt"
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} == {".npy"}
    assert subprocess.run([*command, "0"], capture_output=True, text=True, check=True).stdout == "1000\n"
    assert subprocess.run([*command, "0"], capture_output=True, text=True, check=True).stdout == "0\n"


KILLED = """
import sys
from pathlib import Path
import numpy as np
from backend.encoders import cache

class Slow:
    identity, dim = "one", 4
    def encode(self, texts, *, progress=None):
        print("encoding", flush=True)
        return np.ones((len(texts), 4), dtype=np.float32)

cache.SHARD_TEXTS = 5
cache.encode_cached(Slow(), [str(n) for n in range(100_000)], Path(sys.argv[1]))
"""


def test_a_kill_leaves_only_whole_shards(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    shards = list(tmp_path.rglob("*.npy"))
    assert len(shards) >= 18
    assert {len(np.load(shard)) for shard in shards} == {5}


def test_progress_counts_the_unknown_texts(tmp_path: Path) -> None:
    encode_cached(Counting(), ["x"], tmp_path)
    calls: list[tuple[int, int]] = []
    texts = ["x", *(f"text {number}" for number in range(SHARD_TEXTS + 3))]
    encode_cached(Counting(), texts, tmp_path, progress=lambda done, of: calls.append((done, of)))
    # The first call comes before the model is built, which takes seconds.
    assert calls == [(0, SHARD_TEXTS + 3), (SHARD_TEXTS, SHARD_TEXTS + 3), (SHARD_TEXTS + 3, SHARD_TEXTS + 3)]


def test_vectors_are_the_same_wherever_they_are_made(
    tmp_path: Path, on_cluster: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "SHARD_TEXTS", 3)
    kept, told = {}, []
    for name, where in (("here", HERE), ("cores", Where(2)), ("cluster", on_cluster)):
        steps: list[tuple[int, int]] = []
        folder = tmp_path / name
        made = encode_cached(Letters(where), WORDS, folder, progress=lambda *step, steps=steps: steps.append(step))
        np.testing.assert_array_equal(made, Letters().encode(WORDS))
        kept[name] = {path.name: path.read_bytes() for path in folder.rglob("*.npy")}
        told.append(sorted(steps))
    assert kept["cores"] == kept["cluster"] == kept["here"]
    assert len(kept["here"]) == 4
    assert told[0][-1] == (10, 10)
    assert [steps[-1] for steps in told] == [(10, 10)] * 3


def test_a_model_that_travels_is_the_same_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = placed(load(resolve("minilm")), Where(2))
    assert where_of(encoder) == Where(2)
    there = pickle.loads(pickle.dumps(encoder))
    assert (there.identity, where_of(there)) == (encoder.identity, HERE)
    monkeypatch.setattr(encoder, "identity", "another")
    with pytest.raises(EncoderUnavailable, match="has another model of this name: install the same on all machines"):
        pickle.loads(pickle.dumps(encoder))
