"""What is acknowledged survives kills, broken disks, other writers and power loss; without each safeguard it does not.

A hypothesis state machine drives the real `store.append` on a simulated disk. TENKLOG_FAULT_RUNS makes it run longer.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from simulated_os import Fault, Killed, SimulatedOS

from tenklog import events, files, reading, rulebook, store
from tenklog.decider import Command, Fix, Note, Roll
from tenklog.errors import AccessError, Busy, Conflict, IllegalMove, TenklogError
from tenklog.lines import scan

FOLDER = Path("/home/games")
LOG = FOLDER / "friday.jsonl"
START = events.Start(
    1, game="friday", version=1, players=("Anna", "Ben"), rules=rulebook.preset("tiotusen"), origin="table", id="begin"
)
BUSTS = ((2, 3, 4, 6, 2, 3), (4, 4, 2, 2, 3, 6))
CALLS = ("", "write", "fsync", "ftruncate", "open", "read", "fstat", "lstat", "lseek", "flock", "unlink", "replace")

# Where it hurts most: a writer's first sync is that of what it wrote or, after a fault, of what was left behind. Its
# first write is the log, its second the mark; after a fault what was left behind and the mark come before them.
SYNCS = (("", "", 0), ("kill", "fsync", 0), ("kill", "fsync", 1), ("error", "fsync", 0), ("error", "fsync", 1))
SORE = (
    *SYNCS, ("kill", "fsync", 2), ("kill", "write", 1), ("error", "fsync", 2), ("error", "ftruncate", 0),
    ("full", "write", 0), ("short", "write", 0), ("full", "write", 2), ("short", "write", 2),
    ("interleave", "write", 0), ("interleave", "fsync", 0),
)  # fmt: skip
salts = st.integers(0, 2**16)
kinds = st.sampled_from(("kill", "error", "short", "full", "interleave"))
places = st.one_of(st.integers(0, 3), st.integers(0, 45))
sync_faults = st.builds(lambda fault, salt: Fault(fault[0], fault[1], fault[2], salt), st.sampled_from(SYNCS), salts)
faults = st.one_of(
    st.builds(lambda fault, salt: Fault(fault[0], fault[1], fault[2], salt), st.sampled_from(SORE), salts),
    st.builds(Fault, kinds, st.sampled_from(CALLS), places, salts),
)


class Evening(RuleBasedStateMachine):
    """Commands to one game, each under a fault, with power losses between them."""

    without: Callable[[pytest.MonkeyPatch], None] = staticmethod(lambda patch: None)

    def __init__(self) -> None:
        super().__init__()
        self.os = SimulatedOS()
        self.os.folders.add(str(FOLDER))
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(files, "os", self.os)
        self.patch.setattr(files, "fcntl", self.os)
        type(self).without(self.patch)
        self.begun = False
        self.acknowledged: dict[str, tuple[events.AnyEvent, ...]] = {}
        self.tried: dict[str, Command] = {}
        self.evidence: dict[Path, bytes] = {}

    def teardown(self) -> None:
        self.patch.undo()

    # -- what happens

    @precondition(lambda self: not self.begun)
    @rule(fault=faults)
    def begin(self, fault: Fault) -> None:
        fault.then = None
        try:
            with self.os.running(fault):
                store.begin(store.Home(Path("/home")), START, now=lambda: "2026-11-29T20:15:00.000Z")
        except (Killed, Busy, AccessError):
            return
        self.begun = True
        self.os.widest = 0

    @precondition(lambda self: self.begun)
    @rule(kind=st.sampled_from(("note", "note", "roll", "fix")), length=st.integers(1, 400), fault=faults)
    def command(self, kind: str, length: int, fault: Fault) -> None:
        key = f"key-{len(self.tried)}"
        asked: Command = Note("x" * length)
        if kind == "roll":
            asked = Roll(BUSTS[length % 2])
        elif kind == "fix":
            found = scan(self.os.content(LOG)).events
            rolls = [event.seq for event in found if type(event) is events.Roll]
            standing = {game.event.seq for game in reading.fold_found(found)[0].standing()}  # type: ignore[union-attr]
            if rolls and rolls[-1] in standing:
                asked = Fix(rolls[-1], BUSTS[length % 2])
        fault.then = lambda: self.attempt(f"{key}-between", Fault(), Note("y" * length))
        self.attempt(key, fault, asked)

    @precondition(lambda self: self.begun)
    @rule(first=sync_faults, second=sync_faults, again=st.booleans(), dark=st.integers(0, 2), salt=salts)
    def one_thing_after_another(self, first: Fault, second: Fault, again: bool, dark: int, salt: int) -> None:
        key = f"key-{len(self.tried)}"
        self.attempt(key, first, Note("x" * 90))
        if dark == 1:
            self.power_loss(salt)
        self.attempt(key if again else f"{key}-second", second, Note("x" * 90))
        if dark == 2:
            self.power_loss(salt)
        self.attempt(f"{key}-last", Fault(), Note("y" * 90))

    @precondition(lambda self: self.begun)
    @rule(again=st.booleans(), salt=salts)
    def as_long_as_what_was_cut_off(self, again: bool, salt: int) -> None:
        """Cut off a torn line, leave one of its length unsynced in its place, and repeat it or fail the next sync."""
        key = f"key-{len(self.tried)}"
        self.attempt(f"{key}-a", Fault(), Note("x"))
        self.attempt(f"{key}-b", Fault("kill", "fsync", 0, salt), Note("x" * 90))
        self.power_loss(salt)
        # Two syncs for what was left behind, three for the cut, then its own.
        self.attempt(f"{key}-c", Fault("kill", "fsync", 5, salt), Note("y" * 90))
        if not again:
            self.attempt(f"{key}-d", Fault("error", "fsync", 0, salt), Note("x"))
        self.attempt(f"{key}-{'c' if again else 'e'}", Fault(), Note("y" * 90))
        self.power_loss(salt + 1)

    @precondition(lambda self: len(self.tried) > len(self.acknowledged))
    @rule(fault=faults)
    def command_again(self, fault: Fault) -> None:
        key = [key for key in self.tried if key not in self.acknowledged][-1]
        fault.then = None
        self.attempt(key, fault)

    @precondition(lambda self: self.acknowledged)
    @rule(which=st.integers(0, 100))
    def repeat_what_was_acknowledged(self, which: int) -> None:
        keys = list(self.acknowledged)
        self.attempt(keys[which % len(keys)], Fault())

    @rule(salt=salts)
    def power_loss(self, salt: int) -> None:
        wide = self.os.widest > 1
        self.os.crash(Random(salt))
        self.os.widest = 0
        if str(LOG) in self.os.names and scan(self.os.content(LOG)).damage is not None:
            # Of several lines that were written and not yet acknowledged the first may have the hole.
            assert wide, "damaged by a power loss"
            with self.os.running(Fault()):
                store.repair(LOG)
        self.all_that_was_acknowledged_is_there()

    def attempt(self, key: str, fault: Fault, asked: Command | None = None) -> None:
        """Record a command, or one that was tried before, and note what the answer promises."""
        asked = asked or self.tried[key]
        self.tried[key] = asked
        before = self.os.content(LOG)
        known = any(event.id == key for event in scan(before).events)
        try:
            with self.os.running(fault):
                done = store.append(
                    LOG, asked, id=key, timeout=0, now=lambda: f"2026-11-29T20:15:{len(self.tried) % 60:02}.000Z"
                )
        except (Killed, Busy):
            return
        except (Conflict, IllegalMove):
            # Others wrote in the meantime: the roll to fix was fixed, or a write of several lines had been torn.
            assert key not in self.acknowledged
            assert isinstance(asked, Fix | Roll)
            return
        except AccessError:
            recorded = any(event.id == key for event in scan(self.os.content(LOG)).events)
            assert known or not recorded, "recorded, and said otherwise"
            return
        if done.healed:
            aside = LOG.with_name(done.healed.split()[-1])
            self.evidence[aside] = before[scan(before).size :]
        assert self.acknowledged.setdefault(key, done.events) == done.events, "another answer the second time"
        assert done.repeated or self.os.content(LOG).count(b"\n") == done.log.seq
        self.os.widest = 0

    # -- what must hold

    @invariant()
    def all_that_was_acknowledged_is_there(self) -> None:
        if not self.begun:
            return
        assert str(LOG) in self.os.names, "the game is gone"
        found = scan(self.os.content(LOG))
        reading.log_of(LOG, found)
        for key, recorded in self.acknowledged.items():
            places = [number for number, event in enumerate(found.events) if event.id == key]
            assert len(places) == 1, f"{key} stands in the log {len(places)} times"
            assert tuple(found.events[places[0] : places[0] + len(recorded)]) == recorded
        for path, cut in self.evidence.items():
            assert str(path) in self.os.names, "what was cut off is gone"
            assert self.os.content(path) == cut


def run(machine: type[Evening], runs: int, *phases: Phase) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=int(os.environ.get("TENKLOG_FAULT_RUNS", runs)),
            stateful_step_count=25,
            deadline=None,
            database=None,
            derandomize="TENKLOG_FAULT_RUNS" not in os.environ,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            phases=phases or (Phase.generate, Phase.shrink),
        ),
    )


def test_what_was_acknowledged_survives_every_fault() -> None:
    run(Evening, 150)


@pytest.fixture
def evening() -> Iterator[Evening]:
    """Return the machine to be driven by hand."""
    machine = Evening()
    yield machine
    machine.teardown()


@pytest.mark.parametrize("salt", range(12))
def test_a_game_whose_writer_died_before_its_name_was_synced_is_as_safe_as_any(evening: Evening, salt: int) -> None:
    evening.begin(fault=Fault("kill", "fsync", 1, salt))
    assert not evening.begun
    evening.attempt("key", Fault(), Note("x"))
    evening.begun = "key" in evening.acknowledged
    assert evening.begun
    evening.power_loss(salt=salt)


def test_what_was_cut_off_survives_a_power_loss_too(evening: Evening) -> None:
    evening.begin(fault=Fault())
    for salt in range(40):
        evening.attempt(f"marked-{salt}", Fault(), Note("x"))
        evening.attempt(f"lost-{salt}", Fault("kill", "fsync", 0, salt), Note("x" * 90))
        evening.power_loss(salt=salt)
        evening.attempt(f"key-{salt}", Fault(), Note("y"))
        evening.power_loss(salt=salt + 1)
    assert len(evening.evidence) > 5


def nothing(*_: Any, **__: Any) -> None:
    pass


def mark_before_the_sync(patch: pytest.MonkeyPatch) -> None:
    def write(writing: store._Writing, size: int, data: bytes) -> None:
        writing.lock.mark(size + len(data))
        real(writing, size, data)

    real = store._write
    patch.setattr(store, "_write", write)


def never_lower_the_mark(patch: pytest.MonkeyPatch) -> None:
    def mark(lock: files.Lock, durable: int) -> None:
        before = files._pread(lock._fd, 21, 0)[1:]
        real(lock, max(durable, int(before) if before.isdigit() else 0))

    real = files.Lock.mark
    patch.setattr(files.Lock, "mark", mark)


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "no sync": lambda patch: patch.setattr(files, "sync", nothing),
    "no sync of the folder": lambda patch: patch.setattr(files, "sync_folder", nothing),
    "no lock": lambda patch: patch.setattr(files, "_try_lock", lambda fd: True),
    "no repair": lambda patch: patch.setattr(files, "truncate", nothing),
    "no mark": lambda patch: patch.setattr(files.Lock, "dirty", nothing),
    "the mark before the sync": mark_before_the_sync,
    "the mark never lowered": never_lower_the_mark,
    "no rewrite": lambda patch: patch.setattr(files, "rewrite", nothing),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_without_one_safeguard_something_is_lost(name: str) -> None:
    machine = type("Careless", (Evening,), {"without": staticmethod(MUTANTS[name])})
    with pytest.raises((AssertionError, TenklogError)):
        run(machine, 4000, Phase.generate)
