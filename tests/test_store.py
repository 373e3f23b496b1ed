"""Reading, appending, beginning and repairing logs, and the home folder, while nothing breaks."""

import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b
from itertools import count
from pathlib import Path

import pytest
from evening import at_table, ruleset, start
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tenklog import events, files, home, store
from tenklog.decider import Bank, Fix, Keep, Note, Roll, Throw
from tenklog.errors import AccessError, Conflict, DataError, IllegalMove, UsageError
from tenklog.game import fold
from tenklog.home import Home, default_home
from tenklog.lines import seal_all

SCRIPT = "roll 133446, keep 1, roll 22234, keep 222, bank, roll 223446, note done"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the path of a sealed log of 9 lines that ends in a note."""
    path = tmp_path / "evening.jsonl"
    store.write_log(path, at_table("Anna Ben").then(SCRIPT).log)
    return path


def clock() -> Callable[[], str]:
    """Return a clock that goes a second further with every look."""
    seconds = count()
    return lambda: f"2026-11-29T20:15:{next(seconds):02}.000Z"


def files_beside(path: Path) -> list[str]:
    """Return the names in a log's folder, without locks."""
    return sorted(one.name for one in path.parent.iterdir() if not one.name.endswith(".lock"))


# -- reading ----------------------------------------------------------------------------------------------------------


def test_a_log_reads_back_as_it_was_written(log: Path) -> None:
    table = at_table("Anna Ben").then(SCRIPT)
    found = store.read(log)
    assert found.events == table.log
    assert (found.seq, found.sealed, found.torn, found.size) == (9, True, "", log.stat().st_size)
    assert found.game.position.seats == table.game.position.seats
    assert log.read_bytes().endswith(f'"h":"{found.h}"}}\n'.encode())
    assert found.fingerprint == f"9:{found.h}"
    assert [game.seq for game in store.states(found)] == list(range(1, 10))
    assert store.parse(log.read_bytes(), "standard input").h == found.h
    assert [one.seq for one in store.read_many([log, log])] == [9, 9]


def test_the_chain_is_blake2b_over_the_hash_before_and_the_line(log: Path) -> None:
    """Worked out here from the words of the format alone."""
    before = "0" * 32
    for line in log.read_text(encoding="utf-8").splitlines():
        body, _, rest = line.rpartition(',"h":"')
        before = blake2b((before + body).encode(), digest_size=16).hexdigest()
        assert rest == before + '"}'
    assert before == store.read(log).h


def test_a_log_written_by_hand_is_read_without_hashes(log: Path) -> None:
    sealed = store.read(log)
    lines = [line[:-40] + b"}" for line in log.read_bytes().split(b"\n")[:-1]]
    loose = [line.replace(b'":', b'": ').replace(b",", b" , ") for line in lines]
    for ending in (b"\n", b"\r\n"):
        for data in (ending.join(lines) + ending, ending.join(loose) + ending, ending.join(loose)):
            log.write_bytes(data)
            found = store.read(log)
            assert (found.events, found.sealed, found.h) == (sealed.events, False, "")
            assert found.fingerprint == sealed.fingerprint
            with pytest.raises(DataError, match=r"is not sealed; `tenklog repair --seal`"):
                store.append(log, Note("x"))
            assert log.read_bytes() == data


def test_a_reader_says_what_it_leaves_out_and_changes_nothing(log: Path) -> None:
    torn = log.read_bytes() + b'{"type":"roll"'
    log.write_bytes(torn)
    found = store.read(log)
    assert found.torn == f"{log}: the last 14 bytes, a torn line, are left out"
    assert (found.seq, found.size) == (9, len(torn) - 14)
    assert log.read_bytes() == torn
    assert files_beside(log) == ["evening.jsonl"]


def test_an_illegal_event_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "evening.jsonl"
    table = at_table("Anna Ben").then("roll 133446, keep 1")
    wrong = [*table.log, events.Bank(4, player="Anna", points=150)]
    path.write_bytes(b"".join(events.encode(event) + b"\n" for event in wrong))
    with pytest.raises(DataError) as error:
        store.read(path)
    assert str(error.value) == f"{path}:4: the turn holds 100 points, not 150; bank 100"


# -- appending --------------------------------------------------------------------------------------------------------


def test_what_is_appended_carries_seq_time_and_id_and_reads_back(log: Path) -> None:
    done = store.append(log, Roll((2, 2, 3, 4, 4, 6)), id="k-1", now=clock())
    assert [(event.seq, event.time, event.id, type(event).__name__) for event in done.events] == [
        (10, "2026-11-29T20:15:00.000Z", "k-1", "Roll"),
        (11, "2026-11-29T20:15:00.000Z", None, "Bust"),
    ]
    assert (done.repeated, done.healed) == (False, "")
    found = store.read(log)
    assert (found.events, found.h, found.seq, found.size) == (done.log.events, done.log.h, done.log.seq, done.log.size)
    assert found.game.position.seats == done.log.game.position.seats
    assert files_beside(log) == ["evening.jsonl"]


def test_all_events_of_a_command_go_out_in_one_write(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    real = os.write

    def write(fd: int, data: bytes) -> int:
        written.append(data)
        return real(fd, data)

    monkeypatch.setattr(os, "write", write)
    size = log.stat().st_size
    done = store.append(log, Fix(2, (1, 2, 2, 3, 3, 4)))
    monkeypatch.undo()
    assert len(done.events) > 5
    assert [data for data in written if data[:1] == b"{"] == [log.read_bytes()[size:]]


def test_the_disk_holds_the_lines_before_they_are_acknowledged(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(log.read_bytes()))
    store.append(log, Note("x"))
    assert synced == [log.read_bytes()]


def test_an_illegal_move_writes_nothing(log: Path) -> None:
    before = log.read_bytes()
    with pytest.raises(IllegalMove):
        store.append(log, Keep((1,)))
    with pytest.raises(UsageError):
        store.append(log, Bank())
    assert log.read_bytes() == before


def test_dice_are_thrown_once_under_one_id(log: Path) -> None:
    first = store.append(log, Throw((1, 2, 3, 4, 6, 6)), id="throw")
    store.append(log, Note("meanwhile"))
    again = store.append(log, Throw((5, 5, 5, 5, 5, 5)), id="throw")
    assert again.repeated
    assert (again.events, again.log.h, again.log.seq) == (first.events, first.log.h, first.log.seq)
    assert store.read(log).seq == first.log.seq + 1
    with pytest.raises(Conflict):
        store.append(log, Roll((1, 2, 3, 4, 6, 6)), id="throw")


def test_a_repeated_command_of_several_events_gives_all_of_them_again(log: Path) -> None:
    first = store.append(log, Fix(2, (1, 2, 2, 3, 3, 4)), id="fix", now=clock())
    store.append(log, Note("meanwhile"))
    again = store.append(log, Fix(2, (1, 2, 2, 3, 3, 4)), id="fix", expect_seq=1)
    assert again.repeated
    assert (again.events, again.log.h, again.log.size) == (first.events, first.log.h, first.log.size)
    assert again.log.game.position.seats == first.log.game.position.seats
    with pytest.raises(Conflict):
        store.append(log, Fix(2, (1, 2, 2, 3, 3, 6)), id="fix")


@pytest.mark.parametrize("command", [Roll((2, 2, 3, 4, 4, 6)), Fix(2, (1, 2, 2, 3, 3, 4))])
def test_a_command_whose_write_was_torn_is_completed_when_it_is_repeated(log: Path, command: Roll | Fix) -> None:
    before = log.read_bytes()
    whole = store.append(log, command, id="k", now=clock())
    written = log.read_bytes()
    ends = [place + 1 for place in range(len(before), len(written)) if written[place] == ord("\n")]
    for number, end in enumerate(ends[:-1], 1):
        log.write_bytes(written[: end + 7])
        done = store.append(log, command, id="k", now=clock())
        assert not done.repeated
        assert (done.events, done.log.h) == (whole.events, whole.log.h)
        assert log.read_bytes() == written
        log.write_bytes(written[:end])
        store.append(log, Note("somebody else"))
        if number == len(ends) - 1:  # the next command had to complete the bust, and with it this one
            assert store.append(log, command, id="k").repeated
        else:
            with pytest.raises(Conflict):
                store.append(log, command, id="k")


def test_the_bust_that_was_torn_off_is_completed_by_whatever_comes_next(log: Path) -> None:
    store.append(log, Roll((2, 2, 3, 4, 4, 6)))
    data = log.read_bytes()
    log.write_bytes(data[: data.rindex(b"\n", 0, -1) + 1])
    done = store.append(log, Note("x"))
    assert [type(event).__name__ for event in done.events] == ["Bust", "Note"]


def test_a_torn_tail_is_moved_beside_the_log_and_never_over_an_older_one(log: Path) -> None:
    size = log.stat().st_size
    for number, torn in enumerate((b"{", b"{", b'{"type"'), 1):
        data = log.read_bytes()[:size]
        log.write_bytes(data + torn)
        done = store.append(log, Note("x"))
        name = f"evening.jsonl.torn-{size}-{number}"
        assert done.healed == f"{log}: the last {len(torn)} bytes, a torn line, were moved to {name}"
        assert log.with_name(name).read_bytes() == torn
        assert log.read_bytes().startswith(data)


def test_a_torn_tail_is_healed_even_when_the_move_is_illegal(log: Path) -> None:
    data = log.read_bytes()
    log.write_bytes(data + b"{")
    with pytest.raises(IllegalMove):
        store.append(log, Keep((1,)))
    assert log.read_bytes() == data


def test_a_last_line_that_lacks_its_newline_is_kept(log: Path) -> None:
    data = log.read_bytes()
    log.write_bytes(data[:-1])
    assert (store.read(log).seq, store.read(log).torn) == (9, "")
    assert store.append(log, Note("x")).log.seq == 10
    assert log.read_bytes().startswith(data)


# -- beginning --------------------------------------------------------------------------------------------------------

BEGIN = start("Anna Ben", ruleset())


def test_a_new_game_is_on_the_disk_before_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a" / "b" / "evening.jsonl"
    seen: list[tuple[bool, bool]] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        seen.append((os.path.isfile(path), stat.S_ISDIR(os.fstat(fd).st_mode)))
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    log = store.create(path, BEGIN, now=clock())
    monkeypatch.undo()
    # The two new folders in those above them, the whole file before it gets its name, then the name.
    assert seen == [(False, True), (False, True), (False, False), (True, True)]
    assert (log.events[0].time, log.seq, log.size) == ("2026-11-29T20:15:00.000Z", 1, path.stat().st_size)
    assert store.read(path).h == log.h
    assert files_beside(path) == ["evening.jsonl"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_new_game_never_replaces_anything(log: Path) -> None:
    before = log.read_bytes()
    with pytest.raises(Conflict, match=r"evening\.jsonl exists already"):
        store.create(log, BEGIN)
    with pytest.raises(Conflict, match=r"evening\.jsonl exists already"):
        store.write_log(log, [BEGIN])
    dangling = log.with_name("gone.jsonl")
    dangling.symlink_to("nowhere")
    with pytest.raises(Conflict):
        store.create(dangling, replace(BEGIN, game="gone"))
    assert log.read_bytes() == before


def test_what_a_writer_that_died_left_of_a_new_game_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "evening.jsonl"
    (tmp_path / ".evening.jsonl.new").write_bytes(b"half a li")
    store.create(path, BEGIN)
    assert store.read(path).seq == 1
    assert files_beside(path) == ["evening.jsonl"]


def test_a_new_log_that_is_no_legal_game_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "evening.jsonl"
    with pytest.raises(IllegalMove, match="event 2: it is A's turn, not B's"):
        store.write_log(path, [at_table().log[0], events.Bust(2, player="B")])
    with pytest.raises(UsageError, match=r"is the game evening in a file of another name"):
        store.write_log(tmp_path / "friday.jsonl", [BEGIN])
    assert list(tmp_path.iterdir()) == []


def test_a_game_begun_twice_under_one_id_is_one_game(tmp_path: Path) -> None:
    place = Home(tmp_path)
    begin = replace(BEGIN, game=place.new_id(None, "k"), id="k")
    assert place.new_id(None, "k") == begin.game != place.new_id(None, "l")
    thrown = replace(begin, first_throw={"Anna": (3,), "Ben": (5,)}, players=("Ben", "Anna"))
    log, repeated = store.begin(place, thrown)
    assert not repeated
    store.append(log.path, Note("meanwhile"))
    again, repeated = store.begin(place, replace(begin, first_throw={"Anna": (6,), "Ben": (5,)}))
    assert (repeated, again.h, again.events) == (True, log.h, log.events)
    for other in (replace(thrown, title="another"), replace(thrown, id="l"), replace(thrown, id=None), begin):
        with pytest.raises(Conflict):
            store.begin(place, other)
    store.begin(place, BEGIN)
    with pytest.raises(Conflict, match="exists already"):
        store.begin(place, BEGIN)
    with pytest.raises(Conflict):
        store.append(log.path, Note("x"), id="k")


# -- repair -----------------------------------------------------------------------------------------------------------


def test_repair_of_a_sound_log_does_nothing(log: Path) -> None:
    before = log.read_bytes()
    assert store.repair(log) == []
    assert (log.read_bytes(), files_beside(log)) == (before, ["evening.jsonl"])


def test_repair_keeps_the_sound_part_and_a_copy_of_all(log: Path) -> None:
    whole = log.read_bytes()
    lines = whole.split(b"\n")[:-1]
    cases = {
        whole.replace(b'"dice":[2,2,2,3,4]', b'"dice":[2,2,2,3,3]'): (3, "line 4 does not fit its hash"),
        whole + b"{": (9, "the last line is torn"),
        whole[:-1]: (9, "newline"),
        whole + lines[3] + b"\n": (9, "line 10 does not fit its hash"),
    }
    for number, (data, (kept, words)) in enumerate(cases.items(), 1):
        log.write_bytes(data)
        plan = store.repair(log, dry_run=True)
        assert words in plan[0]
        assert log.read_bytes() == data
        done = store.repair(log)
        assert done == [*plan, f"the log as it was is kept as evening.jsonl.before-repair-{number}"]
        assert log.with_name(f"evening.jsonl.before-repair-{number}").read_bytes() == data
        assert log.read_bytes() == b"".join(line + b"\n" for line in lines[:kept])
        assert store.append(log, Note("x")).log.seq == kept + 1


def test_repair_cuts_a_sealed_log_before_an_event_that_is_illegal(log: Path) -> None:
    table = at_table("Anna Ben").then(SCRIPT)
    table.log[5] = events.Bank(6, player="Anna", points=9999)
    with pytest.raises(IllegalMove):
        fold(table.log)
    log.write_bytes(b"".join(line + b"\n" for line in seal_all(table.log)))
    assert "line 6 the turn holds" in store.repair(log)[0]
    assert store.read(log).seq == 5


def test_repair_seals_a_hand_written_log(log: Path) -> None:
    sealed = log.read_bytes()
    lines = [line[:-40] + b"}" for line in sealed.split(b"\n")[:-1]]
    log.write_bytes(b" \r\n".join(lines) + b"\r\n")
    assert store.repair(log) == []
    assert store.repair(log, seal=True) == [
        "9 events are written canonically and sealed", "the log as it was is kept as evening.jsonl.before-repair-1"
    ]  # fmt: skip
    assert log.read_bytes() == sealed
    assert store.repair(log, seal=True) == []


def test_a_hand_written_log_with_a_mistake_is_for_its_writer_to_correct(log: Path) -> None:
    lines = [line[:-40] + b"}" for line in log.read_bytes().split(b"\n")[:-1]]
    for wrong, line in (
        (b"\n".join([*lines[:5], b"oops", *lines[6:]]) + b"\n", 6),
        (b"\n".join([*lines[:5], lines[5].replace(b"300", b"350"), *lines[6:]]) + b"\n", 6),
        (b"\n".join(lines) + b"\n{", 10),
    ):
        log.write_bytes(wrong)
        for seal in (False, True):
            if seal and line == 10:
                continue
            with pytest.raises(DataError, match=rf"evening\.jsonl:{line}: "):
                store.repair(log, seal=seal)
            assert (log.read_bytes(), files_beside(log)) == (wrong, ["evening.jsonl"])
    assert store.repair(log, seal=True)[0] == "the last line is torn and is cut"
    assert store.read(log).seq == 9


# -- the home folder --------------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Home:
    """Return a home with four games."""
    place = Home(tmp_path / "home")
    for game in ("friday", "friday-2", "sunday", "2026-11-29-kfqz"):
        store.begin(place, replace(BEGIN, game=game))
    return place


def test_a_game_is_found_by_id_beginning_or_path(place: Home, tmp_path: Path) -> None:
    assert [path.stem for path in place.games()] == ["2026-11-29-kfqz", "friday", "friday-2", "sunday"]
    assert place.find("friday") == place.path("friday") == tmp_path / "home" / "games" / "friday.jsonl"
    assert place.find("friday-") == place.path("friday-2")
    assert place.find("s") == place.path("sunday")
    assert place.find("2026") == place.path("2026-11-29-kfqz")
    assert place.find("other.jsonl") == Path("other.jsonl")
    assert place.find("some/folder") == Path("some/folder")
    assert place.find("-") == Path("-")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("f", "'f' begins 2 ids; one of friday, friday-2"),
        ("", "there is no game ''"),
        ("fridya", "there is no game 'fridya'; did you mean friday?"),
        ("Friday", "there is no game 'Friday'; did you mean friday?"),
        ("..", "there is no game '..'"),
    ],
)
def test_a_game_that_is_not_found_is_answered_with_what_there_is(place: Home, typed: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        place.find(typed)
    assert str(error.value).startswith(said)


def test_the_game_in_use_is_remembered(place: Home) -> None:
    with pytest.raises(UsageError, match="no game is in use"):
        place.current()
    place.use("sunday")
    assert (place.current_id(), place.current()) == ("sunday", place.path("sunday"))
    place.use("friday")
    assert place.current_id() == "friday"
    place.path("friday").unlink()
    with pytest.raises(UsageError, match="friday, is not there any more"):
        place.current()
    (place.folder / "current").write_text("../../etc/passwd\n")
    assert place.current_id() is None


def test_a_home_is_made_when_something_is_written(tmp_path: Path) -> None:
    place = Home(tmp_path / "a" / "home")
    assert (place.games(), place.current_id()) == ([], None)
    with pytest.raises(UsageError, match="begin one with `tenklog new"):
        place.find("x")
    assert list(tmp_path.iterdir()) == []
    place.use("friday")
    assert place.current_id() == "friday"


def test_what_is_no_game_in_the_games_folder_is_not_listed(place: Home) -> None:
    for name in ("Friday.jsonl", "notes.txt", ".friday.jsonl.new", "friday.jsonl.torn-7-1", "a b.jsonl"):
        (place.games_folder / name).write_text("")
    assert len(place.games()) == 4


def test_new_ids_are_dates_with_letters_that_are_free(place: Home) -> None:
    found = {place.new_id() for _ in range(50)}
    assert len(found) > 40
    assert all(home.check_id(game) and len(game) == 15 for game in found)
    assert place.new_id("my-game") == "my-game"


def test_an_id_that_is_taken_is_not_drawn_again(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter((b"\0\0\0\0", b"\0\0\0\0", b"\0\0\0\1"))
    monkeypatch.setattr(os, "urandom", lambda count: next(drawn))
    first = place.new_id()
    place.path(first).write_bytes(b"")
    assert first.endswith("-bbbb")
    assert place.new_id().endswith("-bbbc")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"TENKLOG_HOME": "/t", "XDG_DATA_HOME": "/x"}, "/t"),
        ("linux", {"TENKLOG_HOME": "", "XDG_DATA_HOME": "/x"}, "/x/tenklog"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "/u/.local/share/tenklog"),
        ("linux", {}, "/u/.local/share/tenklog"),
        ("darwin", {"XDG_DATA_HOME": "/x"}, "/u/Library/Application Support/tenklog"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/tenklog"),
        ("win32", {}, "/u/AppData/Local/tenklog"),
    ],
)
def test_the_home_is_where_the_platform_keeps_data(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TENKLOG_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (variables | {"HOME": "/u"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert default_home() == Path(expected)


# -- the rest ---------------------------------------------------------------------------------------------------------


def test_standard_input_is_read_and_never_written_to(log: Path) -> None:
    code = "from pathlib import Path; from tenklog import store; print(store.read(Path('-')).fingerprint)"
    done = subprocess.run([sys.executable, "-c", code], input=log.read_bytes(), capture_output=True, check=True)
    assert done.stdout.decode().strip() == store.read(log).fingerprint
    for use in (lambda: store.append(Path("-"), Note("x")), lambda: store.repair(Path("-"))):
        with pytest.raises(UsageError, match="standard input can't be written to"):
            use()


def test_recording_loads_nothing_heavy() -> None:
    code = "import sys, tenklog.store; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "tenklog.store" in loaded
    heavy = {"duckdb", "tabulate", "click", "json", "random", "tempfile", "shutil", "logging", "tomllib", "difflib"}
    assert not loaded & heavy


def test_a_mac_is_asked_for_a_full_sync(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(files, "_FULL_SYNC", 51)
    monkeypatch.setattr("fcntl.fcntl", lambda fd, what: asked.append(what))
    monkeypatch.setattr(os, "fsync", lambda fd: asked.append(0))
    store.append(log, Note("x"))
    assert asked == [51]

    def unknown(fd: int, what: int) -> None:
        raise OSError(25, "Inappropriate ioctl for device")

    monkeypatch.setattr("fcntl.fcntl", unknown)
    store.append(log, Note("x"))
    assert asked == [51, 0]


def test_a_log_is_opened_once_the_lock_is_held(log: Path) -> None:
    """A file that is put in the place of the log while a writer waits is the one that is written to."""
    held = files.Lock(log, 0)
    held.__enter__()
    other = log.with_name("other.log")
    other.write_bytes(log.read_bytes())
    store.append(other, Note("the new one"))
    real = time.sleep

    def sleep(seconds: float) -> None:
        if other.exists():
            other.rename(log)
            held.__exit__(None, None, None)
        real(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", sleep)
        done = store.append(log, Note("x"))
    assert done.log.seq == 11
    assert store.read(log).seq == 11


FORM = "2026-11-29T20:15:00.000Z"
times = st.one_of(
    st.datetimes().map(lambda when: when.isoformat(timespec="milliseconds")[:23] + "Z"),
    st.text("0123456789-+:.TZW \n", min_size=24, max_size=24),
    st.builds(
        lambda place, sign: FORM[:place] + sign + FORM[place + 1 :],
        st.integers(0, 23),
        st.sampled_from("0123456789-+:.,TtZzW _\u0663\0\n"),
    ),
)


@given(st.lists(times, max_size=6))
@example(["2026-11-29T20:15:Z\0.000Z"])
@example([FORM, "2026-11-29T24:00:00.000Z"])
@example([FORM, "2026-W48-7T20:15:00.000Z", FORM])
def test_many_times_are_right_when_each_is(many: list[str]) -> None:
    def right(text: str) -> bool:
        if not re.fullmatch(r"(?a:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)", text):
            return False
        try:
            datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
        except ValueError:
            return False
        return True

    log: list[events.AnyEvent] = [events.Note(1, one, text="x") for one in many]
    if all(map(right, many)):
        events.check_times(log)
    else:
        wrong = next(one for one in many if not right(one))
        with pytest.raises(DataError) as error:
            events.check_times(log)
        assert repr(wrong) in str(error.value)


def test_a_missing_game_leaves_no_lock_behind(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="there is no such file"):
        store.append(tmp_path / "none.jsonl", Note("x"))
    assert list(tmp_path.iterdir()) == []
