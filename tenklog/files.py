"""Files: this module opens, locks, writes and syncs files as the promises of the log need it.

It is the only module that writes the bytes of logs, and it knows nothing of their content. It never follows a link at
the end of a path, never waits on a pipe, never opens what is no plain file, and leaves no file descriptor behind. An
OSError passes through its plain calls; `telling` turns it into the one line that a user reads.
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from tenklog.errors import AccessError, Busy, DataError

if sys.platform == "win32":
    import msvcrt

    def _pread(fd: int, size: int, offset: int) -> bytes:
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, size)

    def _pwrite(fd: int, data: bytes, offset: int) -> int:
        os.lseek(fd, offset, os.SEEK_SET)
        return os.write(fd, data)
else:
    import fcntl

    def _pread(fd: int, size: int, offset: int) -> bytes:
        return os.pread(fd, size, offset)

    def _pwrite(fd: int, data: bytes, offset: int) -> int:
        return os.pwrite(fd, data, offset)


MOST_BYTES = 64 << 20
# What a platform lacks is 0 there: Windows knows neither links nor pipes as POSIX does, POSIX no text mode.
_SAFE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
READ = os.O_RDONLY
APPEND = os.O_RDWR | os.O_APPEND
IN_PLACE = os.O_RDWR
_FULL_SYNC = None if sys.platform == "win32" else getattr(fcntl, "F_FULLFSYNC", None)


def told(error: OSError, path: Path | str, right: str = "") -> AccessError:
    """Return an OSError as the error that names the file and says what would be right."""
    what = {
        errno.ELOOP: "is a symbolic link, not a plain file",
        errno.ENOENT: "there is no such file",
        errno.EISDIR: "is a folder, not a plain file",
        errno.ENOTDIR: "what stands before the last / is no folder",
    }.get(error.errno or 0, f"{error.strerror or error}")
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return AccessError(what, "room on the disk" if full else right, str(path))


@contextmanager
def telling(path: Path | str, right: str = "") -> Iterator[None]:
    """Turn an OSError inside `with` into what `told` makes of it."""
    try:
        yield
    except OSError as error:
        raise told(error, path, right) from None


# -- opening, reading, writing ----------------------------------------------------------------------------------------


def open_plain(path: Path | str, flags: int, refuse_links: bool = False) -> tuple[int, os.stat_result]:
    """Open a plain file of at most 64 MiB and look at it; raise AccessError or DataError for what is none."""
    if sys.platform == "win32" and os.path.islink(path):
        raise OSError(errno.ELOOP, "")
    fd = os.open(path, flags | _SAFE)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
            raise AccessError(f"is {kind}, not a plain file", where=str(path))
        if refuse_links and found.st_nlink > 1:
            raise AccessError("has a second name (a hard link)", "a copy of it, which is safe to write to", str(path))
        if found.st_size > MOST_BYTES:
            raise DataError(f"has {found.st_size} bytes", f"a log has at most {MOST_BYTES}", str(path))
    except BaseException:
        close(fd)
        raise
    return fd, found


@contextmanager
def opened(path: Path | str, flags: int, refuse_links: bool = False) -> Iterator[int]:
    """Hold a file open, as `open_plain` opens it, inside `with`."""
    fd, _ = open_plain(path, flags, refuse_links)
    try:
        yield fd
    finally:
        close(fd)


def close(fd: int) -> None:
    """Close a file; what counted was synced before."""
    try:  # noqa: SIM105  (on the way of every append)
        os.close(fd)
    except OSError:
        pass


def read(fd: int) -> bytes:
    """Return all bytes of an open log from its start, up to one more than a log may have."""
    os.lseek(fd, 0, os.SEEK_SET)
    most = MOST_BYTES + 1
    data = os.read(fd, min(os.fstat(fd).st_size + 1, most))  # not `most` at once: that much would be set aside first
    while len(data) < most and (more := os.read(fd, min(1 << 20, most - len(data)))):
        data += more
    return data


def write(fd: int, data: bytes) -> None:
    """Write all of the data, in one call unless the system takes less."""
    done = os.write(fd, data)
    while done < len(data):
        done += os.write(fd, data[done:])


def sync(fd: int) -> None:
    """Return when the disk holds the file; never call it again to mend a failure, which would only look mended."""
    if sys.platform != "win32" and _FULL_SYNC is not None:
        try:
            fcntl.fcntl(fd, _FULL_SYNC)  # what fsync means elsewhere; macOS leaves the bytes in the drive's own cache
            return
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY):
                raise
    os.fsync(fd)


def sync_folder(folder: Path) -> None:
    """Return when the disk holds the names in a folder."""
    if sys.platform == "win32":
        return  # can't be asked for there
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def truncate(fd: int, size: int) -> None:
    """Cut an open log to a size."""
    os.ftruncate(fd, size)


def rewrite(path: Path, data: bytes, offset: int) -> None:
    """Write bytes that are there already once more, in place: after a failed sync their pages only look clean."""
    with opened(path, IN_PLACE) as fd:
        os.lseek(fd, offset, os.SEEK_SET)
        write(fd, data[offset:])


def holds(path: Path | str, found: os.stat_result, size: int) -> bool:
    """Tell whether a path still names the file that was found there, and it has this size."""
    try:
        named = os.lstat(path)
    except FileNotFoundError:
        return False
    return named.st_size == size and named.st_ino == found.st_ino and named.st_dev == found.st_dev


def exists(path: Path | str) -> bool:
    """Tell whether anything has this name, be it a dangling link."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def remove(path: Path) -> None:
    """Remove a file, if it can be removed."""
    with suppress(OSError):
        os.unlink(path)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each durable before anything is put into it."""
    if not os.path.isdir(folder):
        make_folder(folder.parent)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        sync_folder(folder.parent)


def write_new(path: Path, data: bytes) -> None:
    """Write and sync a file that must not exist yet; a failure leaves none behind."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
    try:
        write(fd, data)
        sync(fd)
    except OSError:
        remove(path)
        raise
    finally:
        os.close(fd)


def put(path: Path, data: bytes) -> None:
    """Give a name whole, synced new content; whoever reads sees the old file or the new one. Hold the lock."""
    fresh = path.parent / f".{path.name}.new"
    remove(fresh)  # of a writer that died
    write_new(fresh, data)
    try:
        os.replace(fresh, path)
    except OSError:
        remove(fresh)
        raise


def set_aside(path: Path, why: str, data: bytes) -> Path:
    """Write bytes durably beside a log, as `<name>.<why>-<n>` with the first free n from 1; return that path.

    A failure leaves none behind.
    """
    number = 1
    while True:
        beside = path.parent / f"{path.name}.{why}-{number}"
        try:
            write_new(beside, data)
        except FileExistsError:
            number += 1
            continue
        try:
            sync_folder(path.parent)
        except OSError:
            remove(beside)
            raise
        return beside


# -- the lock ---------------------------------------------------------------------------------------------------------


def _try_lock(fd: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(fd, 64, os.SEEK_SET)  # behind the mark, because nobody can read what is locked there
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


class Lock:
    """The kernel lock of one log, held inside `with`; its file is never deleted and dies with nobody.

    The file also keeps the mark: the offset up to which the disk holds the log. It is set after a sync, so a log of
    another size has bytes that a killed writer left, or was changed by somebody else. Where the size would not tell, as
    after a failed sync, it is 0. The mark needs no sync itself: whatever is read after a power loss comes from the
    disk, so an old mark, or zeros, can't promise too much then; and no writer adds anything before the mark is the size
    of the log.
    """

    __slots__ = ("_fd", "beside", "log", "path", "timeout")

    def __init__(self, path: Path | str, timeout: float, beside: bool = False) -> None:
        """With `beside`, no lock file is made where there is no log."""
        self.log = str(path)
        folder, slash, name = self.log.rpartition(os.sep)
        self.path = f"{folder}{slash}.{name}.lock"
        self.beside = beside
        self.timeout = timeout
        self._fd = -1

    def __enter__(self) -> "Lock":
        try:
            if not self._take():
                self._wait()
        except OSError as error:
            raise told(error, self.path, "a folder that can be written to and whose disk knows locks") from None
        return self

    def _wait(self) -> None:
        deadline = time.monotonic() + self.timeout
        while time.monotonic() < deadline:
            # Jitter, or writers that wait for the same lock would wake together each time.
            time.sleep(0.001 + os.urandom(1)[0] / 50_000)
            if self._take():
                return
        raise Busy(f"{self.path} is locked by another tenklog", "try again, or wait longer with --timeout SECONDS")

    def __exit__(self, kind: object, error: BaseException | None, _: TracebackType | None) -> None:
        close(self._fd)

    def _take(self) -> bool:
        try:
            fd = os.open(self.path, os.O_RDWR | _SAFE)
        except (FileNotFoundError, NotADirectoryError):
            if self.beside:
                with telling(self.log):
                    os.lstat(self.log)
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | _SAFE, 0o600)
        try:
            # A lock file that somebody deleted or replaced has no name left, and protects nobody.
            if _try_lock(fd) and os.fstat(fd).st_nlink:
                self._fd, fd = fd, -1
                return True
            return False
        finally:
            if fd >= 0:
                os.close(fd)

    def dirty(self, size: int) -> int | None:
        """Return from where on a log of this size may not have reached the disk; None when all of it has."""
        mark = _pread(self._fd, 21, 0)
        # An older mark, `C` for all, says nothing of a size, and so does an empty file.
        durable = int(mark[1:]) if mark[:1] == b"D" and mark[1:].isdigit() else 0
        if durable == size:
            return None
        return durable if durable < size else 0

    def mark(self, durable: int) -> None:
        """Say up to where the disk holds the log."""
        _pwrite(self._fd, b"D%020d" % durable, 0)
