"""What tests share: a game log on disk, a store that doesn't wait for the disk, and Ctrl-C that is heard."""

import signal
from pathlib import Path

import evening
import pytest

from tenklog import files, store

# A shell starts what is in the background deaf to Ctrl-C, and so would be all that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the path of a sealed log of 20 lines: rolls, keeps, busts, banks, an undo and, last, a note."""
    path = tmp_path / "evening.jsonl"
    table = evening.at_table("Änna Ben", "farkle-classic")
    table.then("roll 133446, keep 1, roll 22234, keep 222, roll 22, roll 555244, keep 555, bank, roll 223446")
    # The last line has a space, an @ and the byte 80: the three that one flipped bit turns into a NUL.
    table.then("roll 111234, keep 111, undo, keep 1, bank, roll 223446, note Ben @ the door: À bientôt")
    store.write_log(path, table.log)
    return path


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the syncs, for sweeps of thousands of writes in which nothing crashes."""
    monkeypatch.setattr(files, "sync", lambda fd: None)
    monkeypatch.setattr(files, "sync_folder", lambda folder: None)
