"""A simulated `os` with a disk behind it that loses what was not synced, for tests of what a log survives.

It stands in for the names `os` and `fcntl` in `tenklog.files`. Bytes written go to a page cache; a sync takes them to
the disk by sectors; names of files go there when their folder is synced. A failed sync leaves pages that look clean and
never reach the disk. `crash` is a power loss: each unsynced sector arrives or not, as does its new size. `Killed`
ends a process between two calls, and nothing else happens to the cache then.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any

SECTOR = 64


class Killed(BaseException):
    """The process is dead; whatever it calls on its way out does nothing."""


class Node:
    """One file: what the cache holds, which sectors of that are dirty, and what the disk holds."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.cache = bytearray()
        self.dirty: set[int] = set()
        self.disk = bytearray()
        self.lock: int | None = None

    def touch(self, start: int, end: int) -> None:
        self.dirty |= set(range(start // SECTOR, (max(end, start + 1) - 1) // SECTOR + 1))

    def truncate(self, size: int) -> None:
        del self.cache[size:]
        self.dirty = {sector for sector in self.dirty if sector * SECTOR < size}
        if size % SECTOR:
            self.touch(size - 1, size)

    def flush(self, sectors: set[int], size: int) -> None:
        """Take some sectors of the cache to the disk, and make the disk's file this long."""
        if len(self.disk) < size:
            self.disk += bytes(size - len(self.disk))
        for sector in sectors:
            start = sector * SECTOR
            new = bytes(self.cache[start : start + SECTOR])
            end = min(start + SECTOR, size)
            if start < end:
                self.disk[start:end] = (new + bytes(SECTOR))[: end - start]
        del self.disk[size:]

    def sync(self) -> None:
        self.flush(self.dirty, len(self.cache))
        self.dirty = set()

    def lose(self, rng: Random) -> None:
        """Fail a sync: some dirty sectors get through, the others look clean from now on."""
        self.flush({sector for sector in self.dirty if rng.random() < 0.5}, len(self.cache))
        self.dirty = set()

    def crash(self, rng: Random) -> None:
        size = rng.choice((len(self.disk), len(self.cache), rng.randint(0, len(self.cache))))
        size = max(size, min(len(self.disk), len(self.cache)))
        chance = rng.choice((0.0, 0.5, 1.0))
        self.flush({sector for sector in self.dirty if rng.random() < chance}, size)
        self.cache = bytearray(self.disk)
        self.dirty = set()


class Fault:
    """What goes wrong during one command: `kind` at the `at`-th call of `call` (of any, when that is empty)."""

    def __init__(self, kind: str = "", call: str = "", at: int = 0, salt: int = 0) -> None:
        self.kind, self.call, self.at = kind, call, at
        self.rng = Random(salt)
        self.then: Callable[[], None] | None = None  # what another process does, for `interleave`
        self.full = False


class SimulatedOS:
    """The part of `os` that `tenklog.files` uses, on a disk of its own."""

    def __init__(self) -> None:
        self.names: dict[str, Node] = {}
        self.disk_names: dict[str, Node] = {}
        self.pending: list[dict[str, Node | None]] = []  # changes of names, in order
        self.folders = {"/", "/home"}
        self.open_files: dict[int, list[Any]] = {}  # descriptor -> node or folder, offset, appending, process
        self.numbers = iter(range(1000, 10**9))
        self.process = 0
        self.dead: set[int] = set()
        self.fault = Fault()
        self.calls: list[str] = []
        self.widest = 0  # lines in one write, of those since whoever runs the test last set this
        self.path = SimpleNamespace(isdir=lambda path: str(path) in self.folders, islink=lambda path: False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("O_", "SEEK_")) or name in ("urandom", "sep"):
            return getattr(os, name)
        raise AttributeError(f"the simulated os has no {name}")

    # -- faults

    def call(self, name: str) -> None:
        if self.process in self.dead:
            raise Killed
        self.calls.append(name)
        fault = self.fault
        if fault.kind and fault.call in ("", name):
            fault.at -= 1
            if fault.at < 0:
                kind, fault.kind = fault.kind, ""
                if kind == "kill":
                    self.dead.add(self.process)
                    raise Killed
                if kind == "interleave" and fault.then is not None:
                    fault.then()
                elif kind in ("short", "full"):
                    fault.kind, fault.call = f"{kind} now", "write"
                elif kind == "error":
                    if name == "fsync":
                        fault.kind = "fsync now"
                    else:
                        raise OSError(errno.EIO, "Input/output error")

    @contextmanager
    def running(self, fault: Fault) -> Iterator[None]:
        """Run a process under a fault; when it ends, in whatever way, its files are closed and its locks free."""
        before = self.process, self.fault
        self.process, self.fault = next(self.numbers), fault
        try:
            yield
        finally:
            left = [number for number, entry in self.open_files.items() if entry[3] == self.process]
            if self.process not in self.dead:
                assert not left, "a descriptor was left open"
            for number in left:
                self.drop(number)
            self.process, self.fault = before

    def crash(self, rng: Random) -> None:
        """Lose power."""
        for change in self.pending[: rng.randint(0, len(self.pending))]:
            self.commit(change)
        self.pending = []
        self.names = dict(self.disk_names)
        for node in dict.fromkeys(self.names.values()):
            node.crash(rng)
            node.lock = None
        self.open_files = {}

    def commit(self, change: dict[str, Node | None]) -> None:
        for name, node in change.items():
            if node is None:
                self.disk_names.pop(name, None)
            else:
                self.disk_names[name] = node

    def rename(self, change: dict[str, Node | None]) -> None:
        self.pending.append(change)
        for name, node in change.items():
            if node is None:
                del self.names[name]
            else:
                self.names[name] = node

    def content(self, path: object) -> bytes:
        return bytes(self.names[str(path)].cache)

    # -- os

    def open(self, path: object, flags: int, mode: int = 0o777) -> int:
        self.call("open")
        name = str(path)
        what: Any
        if name in self.folders:
            what = name
        else:
            if name not in self.names:
                if not flags & os.O_CREAT:
                    raise FileNotFoundError(errno.ENOENT, "No such file or directory")
                if name.rpartition("/")[0] not in self.folders:
                    raise FileNotFoundError(errno.ENOENT, "No such file or directory")
                self.rename({name: Node(next(self.numbers))})
            elif flags & os.O_EXCL:
                raise FileExistsError(errno.EEXIST, "File exists")
            what = self.names[name]
        number = next(self.numbers)
        self.open_files[number] = [what, 0, bool(flags & os.O_APPEND), self.process]
        return number

    def drop(self, number: int) -> None:
        what = self.open_files.pop(number)[0]
        if isinstance(what, Node) and what.lock == number:
            what.lock = None

    def close(self, number: int) -> None:
        if self.process in self.dead:
            raise Killed
        self.drop(number)

    def read(self, number: int, size: int) -> bytes:
        self.call("read")
        entry = self.open_files[number]
        data = bytes(entry[0].cache[entry[1] : entry[1] + size])
        entry[1] += len(data)
        return data

    def write(self, number: int, data: bytes) -> int:
        self.call("write")
        fault = self.fault
        if fault.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        if fault.kind in ("short now", "full now") and data:
            fault.full = fault.kind == "full now"
            fault.kind = ""
            data = data[: fault.rng.randint(0 if fault.full else 1, len(data))]
            if not data:
                raise OSError(errno.ENOSPC, "No space left on device")
        self.widest = max(self.widest, data.count(b"\n"))
        entry = self.open_files[number]
        node: Node = entry[0]
        start = len(node.cache) if entry[2] else entry[1]
        node.cache[start : start + len(data)] = data
        node.touch(start, start + len(data))
        entry[1] = start + len(data)
        return len(data)

    def pread(self, number: int, size: int, offset: int) -> bytes:
        self.call("read")
        return bytes(self.open_files[number][0].cache[offset : offset + size])

    def pwrite(self, number: int, data: bytes, offset: int) -> int:
        self.call("write")
        node: Node = self.open_files[number][0]
        if self.fault.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        node.cache[offset : offset + len(data)] = data
        node.touch(offset, offset + len(data))
        return len(data)

    def lseek(self, number: int, offset: int, how: int) -> int:
        self.call("lseek")
        self.open_files[number][1] = offset
        return offset

    def fsync(self, number: int) -> None:
        self.call("fsync")
        what = self.open_files[number][0]
        failing = self.fault.kind == "fsync now"
        if failing:
            self.fault.kind = ""
            if isinstance(what, Node):
                what.lose(self.fault.rng)
            raise OSError(errno.EIO, "Input/output error")
        if isinstance(what, Node):
            what.sync()
        else:
            here = [change for change in self.pending if all(name.rpartition("/")[0] == what for name in change)]
            for change in here:
                self.commit(change)
            self.pending = [change for change in self.pending if change not in here]

    def ftruncate(self, number: int, size: int) -> None:
        self.call("ftruncate")
        self.open_files[number][0].truncate(size)

    def found(self, node: Node) -> SimpleNamespace:
        mode = stat.S_IFREG | 0o600
        return SimpleNamespace(st_mode=mode, st_size=len(node.cache), st_nlink=1, st_ino=node.number, st_dev=1)

    def fstat(self, number: int) -> SimpleNamespace:
        self.call("fstat")
        return self.found(self.open_files[number][0])

    def lstat(self, path: object) -> SimpleNamespace:
        self.call("lstat")
        if str(path) not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return self.found(self.names[str(path)])

    def unlink(self, path: object) -> None:
        self.call("unlink")
        if str(path) not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        self.rename({str(path): None})

    def replace(self, source: object, target: object) -> None:
        self.call("replace")
        self.rename({str(target): self.names[str(source)], str(source): None})

    def mkdir(self, path: object, mode: int) -> None:
        self.call("mkdir")
        self.folders.add(str(path))

    # -- fcntl

    LOCK_EX, LOCK_NB = 2, 4

    def flock(self, number: int, how: int) -> None:
        self.call("flock")
        node: Node = self.open_files[number][0]
        if node.lock not in (None, number):
            raise BlockingIOError(errno.EWOULDBLOCK, "Resource temporarily unavailable")
        node.lock = number
