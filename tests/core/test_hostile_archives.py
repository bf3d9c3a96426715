"""Files that are small and unpack to gigabytes, or that point elsewhere: refused with their name, before it happens."""

import gzip
import io
import tracemalloc
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from backend.campaign.release.export import opening
from backend.core import reading
from backend.core.errors import InputError
from backend.systems import feature_files
from backend.systems.feature_files import open_features


def test_gzip_that_unpacks_to_more_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_UNPACKED", 1 << 20)
    path = tmp_path / "run.json.gz"
    path.write_bytes(gzip.compress(bytes((1 << 20) + 1)))
    with pytest.raises(InputError, match=r"run\.json\.gz: unpacks to more than"):
        reading.unpacked_bytes(path)


def test_a_zip_counts_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No member is too large by itself, and all together are."""
    monkeypatch.setattr(opening, "LARGEST_UNPACKED", 1 << 20)
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.json", bytes(400_000))
    with pytest.raises(InputError, match=r"release\.zip: unpacks to more than"), opening.open_release(path):
        pass


def test_a_zip_of_very_many_files_and_one_that_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MOST_MEMBERS", 2)
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("val.json", b"[]" * 500)
    data = bytearray(path.read_bytes())
    data[45:50] = b"\xff" * 5  # within what is packed
    (tmp_path / "broken.zip").write_bytes(data)
    with (
        opening.open_release(tmp_path / "broken.zip") as files,
        pytest.raises(InputError, match=r"val\.json: cannot be read"),
    ):
        files.read("val.json")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.json", b"")
        archive.writestr("b.json", b"")
    with pytest.raises(InputError, match="has more than 2 files"), opening.open_release(path):
        pass


def test_features_that_say_an_enormous_shape(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["rate"] = 1.0
        file.create_dataset("v", shape=(10**9, 1024), dtype="f4", chunks=(1, 1024), compression="gzip")
    assert (tmp_path / "a.h5").stat().st_size < 100_000
    head = io.BytesIO()
    np.lib.format.write_array_header_2_0(head, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 1024)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("v.npy", head.getvalue())
    for name in ("a.h5", "a.npz"):
        with (
            pytest.raises(InputError, match=rf"{name}: video v: unpacks to more than 2 GiB"),
            open_features(tmp_path / name, 1.0),
        ):
            pass


def npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def npy(descr: object, shape: tuple[int, ...], data: bytes = b"", *, fortran: bool = False) -> bytes:
    head = io.BytesIO()
    np.lib.format.write_array_header_2_0(head, {"descr": descr, "fortran_order": fortran, "shape": shape})
    return head.getvalue() + data


ROWS = np.ones((2, 3), dtype=np.float32)


@pytest.mark.parametrize(
    ("v", "rate"),
    [
        pytest.param(npy("<U1000000", (8, 2), bytes(64_000_000)), b"", id="long texts"),
        pytest.param(npy("|S4000000", (8, 2), bytes(64_000_000)), b"", id="long bytes"),
        pytest.param(npy([("a", "<f8", (500_000,))], (8, 2), bytes(64_000_000)), b"", id="fields of arrays"),
        pytest.param(npy("|O", (8, 2), bytes(64_000_000)), b"", id="objects"),
        pytest.param(b"\x93NUMPY\x02\x00" + (64_000_000).to_bytes(4, "little") + b" " * 64_000_000, b"", id="a head"),
        pytest.param(npy("<f8", (200_000, 4), bytes(6_400_000 - 8)), b"", id="fewer than it says"),
        pytest.param(npy("<f4", (2, 3), ROWS.tobytes() + bytes(64_000_000)), b"", id="more than it says"),
        pytest.param(npy("<f4", (2, 3), ROWS.tobytes()), npy("<U16000000", (), bytes(64_000_000)), id="a long rate"),
    ],
)
def test_features_of_other_kinds_are_refused_before_they_are_unpacked(tmp_path: Path, v: bytes, rate: bytes) -> None:
    path = npz(tmp_path / "a.npz", v=v, **({"rate": rate} if rate else {}))
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"a\.npz: "), open_features(path, 1.0) as features:
            features.of("v")
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["a.npz", "columns.npz", "a.h5"])
def test_reading_features_takes_half_of_what_their_limit_says(tmp_path: Path, kind: str) -> None:
    """The limit counts 8 bytes a number: float32 takes half of that, and there is no second copy."""
    rows = np.linspace(0, 1, 4_000_000).reshape(8_000, 500)
    path = tmp_path / kind
    if kind.endswith("npz"):
        np.savez_compressed(path, v=np.asfortranarray(rows) if kind.startswith("columns") else rows)
    else:
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=rows, compression="gzip", chunks=(100, 500))
    with open_features(path, 1.0) as features:
        tracemalloc.start()
        try:
            found = features.of("v")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert np.array_equal(found, rows.astype(np.float32))
    assert peak < 0.75 * rows.nbytes


def test_an_hdf5_file_of_texts_or_of_one_enormous_chunk_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "texts.h5", "w") as file:
        file.create_dataset("v", shape=(2, 2), dtype="S1000000", compression="gzip")
    with h5py.File(tmp_path / "chunk.h5", "w") as file:
        file.create_dataset(
            "v", shape=(2, 2), maxshape=(None, None), chunks=(20_000, 20_000), dtype="f8", compression="gzip"
        )
    for name, why in (("texts.h5", "must hold numbers"), ("chunk.h5", "unpacks to more than 2 GiB")):
        with pytest.raises(InputError, match=f"video v: {why}"), open_features(tmp_path / name, 1.0) as features:
            features.of("v")


def test_features_that_lie_in_other_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(np.zeros(8, dtype=np.float32).tobytes())
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", shape=(2, 4), dtype="f4", external=[(str(tmp_path / "secret"), 0, 32)])
    with (
        pytest.raises(InputError, match="video v: its numbers are in another file"),
        open_features(tmp_path / "a.h5", 1.0),
    ):
        pass
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["w"] = h5py.ExternalLink(str(tmp_path / "c.h5"), "w")
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["w"] = np.zeros((2, 4), dtype=np.float32)
    with pytest.raises(InputError, match="holds no features"), open_features(tmp_path / "b.h5", 1.0):
        pass


def test_the_limit_of_features_is_that_of_other_files() -> None:
    feature_files.require_size(Path("a"), "it", reading.LARGEST_UNPACKED)
    with pytest.raises(InputError):
        feature_files.require_size(Path("a"), "it", reading.LARGEST_UNPACKED + 1)
