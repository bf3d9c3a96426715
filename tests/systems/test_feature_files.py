"""Features of frames in files: written here, and by h5py and numpy alone, as those from elsewhere are."""

from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
import pytest

from backend.core.errors import InputError, ProjectError
from backend.systems.extracting import write_features
from backend.systems.feature_files import open_features, require_videos

Array = npt.NDArray[np.float32]

A = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32)
B = np.array([[7, 8, 9]], dtype=np.float32)


def from_elsewhere(path: Path, arrays: dict[str, object], **about: object) -> Path:
    """A file as other programs write it."""
    if path.suffix == ".npz":
        np.savez(path, **arrays, **about)
    else:
        with h5py.File(path, "w") as file:
            for name, rows in arrays.items():
                file[name] = rows
            file.attrs.update(about)
    return path


def test_what_is_written_is_an_hdf5_file_of_a_dataset_a_video(tmp_path: Path) -> None:
    out = tmp_path / "f.h5"
    assert write_features(out, [("b", B), ("show/a", A)], rate=0.5, encoder="drawn") == 2
    with h5py.File(out) as file:
        assert file.attrs["rate"] == 0.5
        assert file.attrs["encoder"] == "drawn"
        assert file["show/a"].dtype == np.float32
        assert file["show/a"][...].tolist() == A.tolist()
        assert file["b"][...].tolist() == B.tolist()
    with open_features(out) as found:
        assert (found.rate, found.dim, found.encoder, found.videos) == (0.5, 3, "drawn", ("b", "show/a"))
        assert found.of("show/a").tolist() == A.tolist()
        assert "b" in found
        assert "a" not in found
    assert [path.name for path in tmp_path.iterdir()] == ["f.h5"]


@pytest.mark.parametrize("name", ["f.h5", "f.hdf5", "f.npz"])
def test_files_from_elsewhere_are_read_at_the_rate_given(tmp_path: Path, name: str) -> None:
    path = from_elsewhere(tmp_path / name, {"v1": A.astype(np.float16), "v2": B.astype(np.float64)})
    with open_features(path, rate=2 / 3) as found:
        assert (found.rate, found.encoder, found.videos) == (2 / 3, None, ("v1", "v2"))
        assert found.of("v1").dtype == np.float32
        assert found.of("v2").tolist() == B.tolist()
    with pytest.raises(InputError, match=f"{name}: does not say how many rows"), open_features(path):
        pass


@pytest.mark.parametrize("name", ["f.h5", "f.npz"])
def test_a_file_may_say_its_rate(tmp_path: Path, name: str) -> None:
    path = from_elsewhere(tmp_path / name, {"v": A}, rate=1.5, encoder="i3d")
    with open_features(path) as found:
        assert (found.rate, found.encoder, found.videos) == (1.5, "i3d", ("v",))
    with open_features(path, rate=1.5):
        pass
    with pytest.raises(InputError, match=r"says 1.5 rows a second, but 2 were given"), open_features(path, rate=2):
        pass


def test_a_video_may_be_called_rate(tmp_path: Path) -> None:
    path = from_elsewhere(tmp_path / "f.npz", {"rate": A})
    with open_features(path, rate=1) as found:
        assert found.videos == ("rate",)


@pytest.mark.parametrize("name", ["f.h5", "f.npz"])
@pytest.mark.parametrize(
    ("arrays", "about", "told"),
    [
        ({"a": A, "b": B[:, :2]}, {}, "video b: has rows of 2 numbers, and the first video rows of 3"),
        ({"a": A, "b": B[0]}, {}, r"video b: has shape \(3,\), not \(frames, dim\)"),
        ({"a": A, "b": B[:0]}, {}, "video b: has no frames"),
        ({}, {}, "holds no features of any video"),
        ({"a": A}, {"rate": 0.0}, "which is not a number above 0"),
        ({"a": A}, {"rate": np.nan}, "which is not a number above 0"),
        ({"a": A}, {"rate": "fast"}, "which is not a number above 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_file_and_video(
    tmp_path: Path, name: str, arrays: dict[str, object], about: dict[str, object], told: str
) -> None:
    path = from_elsewhere(tmp_path / name, arrays, **{"rate": 1.0, **about})
    with pytest.raises(InputError, match=rf"{name}.*: .*{told}"), open_features(path):
        pass


@pytest.mark.parametrize("name", ["f.h5", "f.npz"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_rows_are_numbers(tmp_path: Path, name: str, wrong: float) -> None:
    rows = A.copy()
    rows[1, 2] = wrong
    path = from_elsewhere(tmp_path / name, {"good": A, "bad": rows}, rate=1.0)
    with open_features(path) as found:
        assert found.of("good").tolist() == A.tolist()
        with pytest.raises(InputError, match=rf"{name}: video bad: row 1 \(from 0\) holds NaN or infinity"):
            found.of("bad")


def test_every_video_that_is_missing_is_named(tmp_path: Path) -> None:
    path = from_elsewhere(tmp_path / "f.npz", {"a": A}, rate=1.0)
    with open_features(path) as found:
        require_videos(found, ["a"])
        with pytest.raises(InputError) as refused:
            require_videos(found, ["z", "a", "y", "z"])
        assert [problem.message.split(":")[0] for problem in refused.value.problems] == ["video z", "video y"]
        with pytest.raises(InputError, match="video q: has no features"):
            found.of("q")


@pytest.mark.parametrize("name", ["f.h5", "f.npz", "f.csv"])
def test_what_is_no_such_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(InputError, match=name), open_features(path, rate=1):
        pass
    path.write_bytes(b"no features at all")
    with pytest.raises(InputError, match=name), open_features(path, rate=1):
        pass


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    rows = np.ones((1000, 3), dtype=np.float32)
    for name in ("f.h5", "f.npz"):
        path = from_elsewhere(tmp_path / name, {"a": rows, "b": rows}, rate=1.0)
        path.write_bytes(path.read_bytes()[:-2000])
        with pytest.raises(InputError, match=name), open_features(path) as found:
            found.of("a"), found.of("b")


@pytest.mark.parametrize("rate", [0, -1, np.nan, np.inf])
def test_a_rate_is_above_0(tmp_path: Path, rate: float) -> None:
    path = from_elsewhere(tmp_path / "f.npz", {"a": A})
    with pytest.raises(InputError, match="number above 0"), open_features(path, rate=rate):
        pass
    with pytest.raises(InputError, match="number above 0"):
        write_features(tmp_path / "g.h5", [("a", A)], rate=rate, encoder="e")


@pytest.mark.parametrize(
    ("videos", "told"),
    [
        ([("a", A), ("b", B[:, :2])], "video b: has rows of 2 numbers"),
        ([("a", A), ("b", B[:0])], "video b: has no frames"),
        ([("a", A), ("b", B * np.nan)], "video b: row 0"),
        ([("a", A), ("a", A)], "video a: a video of this name"),
        ([("a", A), ("a/b", A)], "video a/b: a video of this name, or of a part of its path"),
        ([("a", A), ("/b", A)], "video '/b': HDF5 cannot store this name"),
        ([("a", A), ("x/../b", A)], "video 'x/../b': HDF5 cannot store this name"),
        ([("a", A), (".", A)], "video '.': HDF5 cannot store this name"),
        ([("a", A), ("", A)], "video '': HDF5 cannot store this name"),
        ([], "no video to write"),
    ],
)
def test_nothing_is_left_of_a_file_that_was_refused(tmp_path: Path, videos: list[tuple[str, Array]], told: str) -> None:
    with pytest.raises(InputError, match=told):
        write_features(tmp_path / "f.h5", videos, rate=1, encoder="e")
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "f.h5").write_text("mine")
    with pytest.raises(ProjectError, match="exists already"):
        write_features(tmp_path / "f.h5", [("a", A)], rate=1, encoder="e")
    with pytest.raises(InputError, match=r"end it in \.h5"):
        write_features(tmp_path / "f.npz", [("a", A)], rate=1, encoder="e")


def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    def interrupted() -> "list[tuple[str, Array]]":
        yield "a", A
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_features(tmp_path / "f.h5", interrupted(), rate=1, encoder="e")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["f.h5", "f.npz"])
def test_a_video_is_found_by_a_canonically_equal_name(tmp_path: Path, name: str) -> None:
    with open_features(from_elsewhere(tmp_path / name, {"cafe\u0301": A}, rate=1.0)) as found:
        assert found.videos == ("caf\u00e9",)
        assert found.of("caf\u00e9").tolist() == A.tolist()
    both = from_elsewhere(tmp_path / f"both {name}", {"cafe\u0301": A, "caf\u00e9": A}, rate=1.0)
    with pytest.raises(InputError, match="differ only in how Unicode writes their letters"), open_features(both):
        pass
