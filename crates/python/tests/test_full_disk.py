"""What a full disk costs: nothing that is done."""

import subprocess

import fullpipe
import pytest
from test_sweep import GRID


class SmallDisk:
    def __init__(self, path):
        self.path = path
        self._mount("-t", "tmpfs", "-o", "size=64k", "tmpfs")

    def grow(self):
        self._mount("-o", "remount,size=32m")

    def _mount(self, *options):
        subprocess.run(["mount", *options, self.path], check=True, capture_output=True)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 kB, which can grow."""
    path = tmp_path / "disk"
    path.mkdir()
    try:
        disk = SmallDisk(path)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small file system takes root, to mount it")
    yield disk
    subprocess.run(["umount", "--lazy", path], check=True)


def test_a_sweep_is_an_os_error_and_goes_on_later(small_disk):
    out = small_disk.path / "out"
    many = GRID | {"repeats": 20}
    with pytest.raises(OSError) as raised:
        fullpipe.sweep(many, out=out)
    assert raised.value.errno == 28, raised.value
    kept = [line for line in (out / "runs.jsonl").read_text().splitlines() if line.endswith("}")]
    assert len(kept) > 2
    small_disk.grow()
    with pytest.warns(RuntimeWarning, match="1 lines damaged"):
        swept = fullpipe.sweep(many, out=out)
    assert (out / "runs.jsonl").read_text().splitlines()[: len(kept)] == kept
    assert swept.summary["runs"] == 120 and swept.summary["failed"] == []
