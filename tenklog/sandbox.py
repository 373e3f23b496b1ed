"""Sandbox: this module takes from a thread, for good, the right to change anything outside of the process.

It is Landlock, a part of Linux since 5.13 that needs no privilege: the kernel refuses the thread, and every thread that
is started by it, to write to any file, make, move or remove one, run a program, or connect over TCP, as far as the
kernel's version knows these rights. Reading is as before, and so are the other threads. Source of the numbers: the
kernel's `landlock.h`.
"""

import ctypes
import os
import sys

CREATE_RULESET, RESTRICT_SELF = 444, 446  # system calls, the same on every architecture that has not its own numbers
VERSION = 1  # asks for the version instead of making a ruleset
NO_NEW_PRIVS = 38
READING = 1 << 2 | 1 << 3  # the rights to read files and folders, among those of files
FILE_RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))  # from this version on, so many of them
TCP_RIGHTS, TCP_SINCE = 0b11, 4


class _Rights(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64))


def give_up_changes() -> bool:
    """Take those rights from this thread and from all that it will start; return False where the system can't."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    libc.syscall.argtypes = libc.prctl.argtypes = (ctypes.c_long,) * 5
    version = libc.syscall(CREATE_RULESET, 0, 0, VERSION, 0)
    if version < 1:
        return False
    count = max(count for since, count in FILE_RIGHTS if since <= version)
    rights = _Rights((1 << count) - 1 & ~READING, TCP_RIGHTS if version >= TCP_SINCE else 0)
    ruleset = libc.syscall(CREATE_RULESET, ctypes.addressof(rights), ctypes.sizeof(rights), 0, 0)
    if ruleset < 0:
        return False
    try:
        # What a set-user-ID program could do would be more than is left; without this it is refused.
        return bool(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.syscall(RESTRICT_SELF, ruleset, 0, 0, 0) == 0)
    finally:
        os.close(ruleset)
