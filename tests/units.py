"""Units of work that tests give to other processes, which import them from here."""

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.core.atomic_output import new_files
from backend.core.errors import InputError, Problem
from backend.core.where import HERE, Where


def wait_for(condition: Callable[[], object], why: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, why
        time.sleep(0.01)


def is_running(process: int) -> bool:
    """Whether a process is there and not merely waiting to be buried by whoever inherited it."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended between the opening and the reading
        return False
    return state != "Z"


def die() -> None:
    """As the system ends a process that took too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def later_ones_first(folder: Path, unit: int) -> int:
    """Ends when all after it have; there are as many processes as units."""
    wait_for(lambda: len(list(folder.iterdir())) >= 2 - unit, "the units did not run side by side")
    (folder / str(unit)).touch()
    return unit * 10


def first_try_dies(folder: Path, unit: int) -> int:
    """Unit 3 ends the first process that begins it. Each try leaves a file."""
    tries = len(list(folder.glob(f"{unit}-*")))
    (folder / f"{unit}-{tries}").touch()
    if unit == 3 and tries == 0:
        die()
    return unit * 10


def always_dies(folder: Path, unit: int) -> int:
    (folder / f"{unit}-{os.getpid()}").touch()
    if unit == 3:
        die()
    return unit


def until_told(folder: Path, unit: int) -> int:
    """Says that it has begun, by the name of its process, and goes on to its end when it may."""
    (folder / f"begun-{unit}-{os.getpid()}").touch()
    wait_for((folder / "go").exists, "nobody let the units go on")
    (folder / f"ended-{unit}").touch()
    return unit


def threads(_: None, unit: int) -> list[str | None]:
    return [os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")]


def worker(_: None, unit: int) -> int:
    return os.getpid()


def refuse(problems: list[Problem], unit: int) -> None:
    raise InputError(problems)


def tell(folder: Path, unit: int) -> int:
    return unit


def endless() -> Iterator[int]:
    return itertools.count()


@dataclass
class Letters:
    """An encoder that counts letters, wherever it is to."""

    where: Where = HERE
    identity: str = "letters"
    dim: int = 26

    def encode(self, texts: Sequence[str], *, progress: object = None) -> np.ndarray:
        counts = [[1 + text.count(chr(letter)) for letter in range(97, 123)] for text in texts]
        return np.array(counts, dtype=np.float32) / np.linalg.norm(counts, axis=1, keepdims=True).astype(np.float32)


@dataclass
class Brightness:
    """A model that sees how bright frames are, and says in which process it looked."""

    where: Where = HERE
    identity: str = "brightness"

    def frames(self, sha256: str, per_s: float, pictures: Callable[[], Iterable[np.ndarray]], folder: Path) -> None:
        np.save(folder / f"{sha256}.npy", np.array([picture.mean() for picture in pictures()]))
        (folder / f"by-{os.getpid()}").touch()


def fill(folder: Path) -> None:
    """Something that is arriving, and never does."""
    with new_files(folder / "out") as own:
        (own / "part").write_text("half of it")
        (folder / "begun").touch()
        time.sleep(60)
