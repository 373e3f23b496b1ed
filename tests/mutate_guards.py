"""Show that no guard can be lost unseen: break each in turn, in a copy, and expect the tests named with it to fail.

    python tests/mutate_guards.py              all of them, a few at a time
    python tests/mutate_guards.py "the lock"   those whose names hold these words

Prints a line for each, and exits 1 when one was broken and its tests passed, or they fail without that.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parent.parent
COPIED = ("tenklog", "tests", "sample_logs", "schemas", "README.md", "pyproject.toml")


class Guard(Struct, frozen=True):
    """A guard: its name, the file under `tenklog/`, what stands there, what stands there when it is broken, tests."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


FAULTS, BYTES, CONTENT = "faults/test_processes.py", "faults/test_bytes.py", "faults/test_content.py"

GUARDS = (
    Guard(
        "the sync before success is reported",
        "files.py",
        "    os.fsync(fd)\n\n\ndef sync_folder",
        "\n\ndef sync_folder",
        ("test_store.py::test_the_disk_holds_the_lines_before_they_are_acknowledged",),
    ),
    Guard(
        "the lock",
        "files.py",
        "fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        (f"{FAULTS}::test_a_lock_that_is_held_is_named_after_the_timeout",),
    ),
    Guard(
        "a lock file without a name protects nobody",
        "files.py",
        "_try_lock(fd) and os.fstat(fd).st_nlink",
        "_try_lock(fd)",
        (f"{FAULTS}::test_a_lock_file_deleted_before_it_could_be_locked_is_not_relied_on",),
    ),
    Guard(
        "a failed write is taken back",
        "store.py",
        "    except OSError as error:\n        _take_back(writing, size)\n",
        "    except OSError as error:\n",
        (f"{FAULTS}::test_a_disk_that_fills_up_after_any_byte_leaves_the_log_as_it_was",),
    ),
    Guard(
        "a failed sync is taken back",
        "store.py",
        "        _take_back(writing, size - len(data))\n",
        "",
        ("faults/test_guards.py::test_what_a_failed_sync_left_is_cut_off_again",),
    ),
    Guard(
        "the mark says 0 before something is cut off",
        "store.py",
        "    try:\n        writing.lock.mark(0)\n",
        "    try:\n",
        ("faults/test_guards.py::test_the_mark_says_0_before_what_failed_is_cut_off",),
    ),
    Guard(
        "nothing is added to a damaged log",
        "store.py",
        "    if found.damage is not None:\n        raise damaged(writing.path, found.damage)\n",
        "",
        ("faults/test_guards.py::test_a_damaged_log_is_not_even_written_once_more",),
    ),
    Guard(
        "nothing is added to a log without hashes",
        "store.py",
        "    if not found.sealed:\n        right",
        "    if False:\n        right",
        ("test_store.py::test_a_log_written_by_hand_is_read_without_hashes",),
    ),
    Guard(
        "a torn tail is kept beside the log before it is cut off",
        "store.py",
        '    aside = files.set_aside(path, f"torn-{found.size}", found.torn)\n',
        '    aside = path.with_name("nowhere")\n',
        ("test_store.py::test_a_torn_tail_is_moved_beside_the_log_and_never_over_an_older_one",),
    ),
    Guard(
        "a repair that failed leaves no copy of the log",
        "store.py",
        "                files.remove(aside)  # the log is as it was, and this may be what filled the disk\n",
        "",
        (f"{FAULTS}::test_a_disk_that_is_full_while_repairing_leaves_the_log_and_nothing_beside_it",),
    ),
    Guard(
        "a file that was replaced or changed meanwhile is not acknowledged",
        "files.py",
        "    return named.st_size == size and named.st_ino == found.st_ino and named.st_dev == found.st_dev",
        "    return True",
        (f"{FAULTS}::test_a_foreign_writer_without_the_lock_is_noticed",),
    ),
    Guard(
        "a new game replaces nothing",
        "store.py",
        "            if files.exists(path):\n",
        "            if False:\n",
        ("test_store.py::test_a_new_game_never_replaces_anything",),
    ),
    Guard(
        "an id means one command",
        "store.py",
        "    if not wanted or any(map(_differ, recorded, wanted)):",
        "    if not wanted:",
        (f"{CONTENT}::test_an_id_means_one_command_for_ever",),
    ),
    Guard(
        "a stale decision is refused",
        "store.py",
        "elif expect_seq is not None and expect_seq != log.seq:",
        "elif False:",
        (f"{CONTENT}::test_an_id_means_one_command_for_ever",),
    ),
    Guard(
        "links are not followed",
        "files.py",
        '("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")',
        '("O_NONBLOCK", "O_BINARY")',
        (
            f"{CONTENT}::test_what_is_no_plain_file_is_no_log",
            f"{CONTENT}::test_a_link_in_the_place_of_the_lock_is_not_followed",
        ),
    ),
    Guard(
        "pipes and devices are not read",
        "files.py",
        "if not stat.S_ISREG(found.st_mode):",
        "if False:",
        (f"{CONTENT}::test_what_is_no_plain_file_is_no_log",),
    ),
    Guard(
        "a file with a second name is not written to",
        "files.py",
        "if refuse_links and found.st_nlink > 1:",
        "if False:",
        (f"{CONTENT}::test_a_log_with_a_second_name_is_read_and_not_written_to",),
    ),
    Guard(
        "a huge file is refused unread",
        "files.py",
        "if found.st_size > MOST_BYTES:",
        "if False:",
        (f"{CONTENT}::test_a_file_of_a_gigabyte_is_refused_unread",),
    ),
    Guard(
        "a whole line of a newer tenklog",
        "store.py",
        "    if error is None and found.damage is not None and found.damage.whole:",
        "    if False:",
        ("test_upgrades.py::test_an_event_of_the_next_version_is_refused_with_its_line",),
    ),
    Guard(
        "replays of rules that were changed",
        "archiving.py",
        "            and sources.get(one.name, one.source) == one.source",
        "            and True",
        ("test_bulk.py::test_rules_that_were_changed_take_the_place_of_what_they_were",),
    ),
    Guard(
        "the hash of every line",
        "lines.py",
        "    if not _fits(line, previous):",
        "    if False:",
        (f"{BYTES}::test_every_flipped_bit_is_found_and_its_line_named",),
    ),
    Guard(
        "the hash of all lines at once",
        "events.py",
        "    return bodies if tails == ",
        "    return bodies if tails or ",
        (f"{BYTES}::test_every_flipped_bit_is_found_and_its_line_named",),
    ),
    Guard(
        "one flipped bit is no torn tail",
        "lines.py",
        "    if holes == 1 and sealed:",
        "    if False:",
        (f"{BYTES}::test_every_flipped_bit_is_found_and_its_line_named",),
    ),
    Guard(
        "a whole record is never cut with what comes after it",
        "lines.py",
        """    return holes > 0 or not (ended or re.search(rb',"h":"[0-9a-f]{32}"\\}', line))""",
        "    return holes > 0 or not ended",
        (f"{BYTES}::test_a_whole_record_is_never_cut_with_what_comes_after_it",),
    ),
    Guard(
        "a sealed line is canonical",
        "lines.py",
        "if _encode_lines(found) == text:",
        "if found:",
        (f"{CONTENT}::test_content_that_is_no_event_is_named_with_its_line_and_never_folded",),
    ),
    Guard(
        "no key stands twice in a hand-written line",
        "events.py",
        "    else:\n        _refuse_twins(line)\n",
        "",
        (f"{CONTENT}::test_content_that_is_no_event_is_named_with_its_line_and_never_folded",),
    ),
    Guard(
        "what nobody could read again is not written",
        "store.py",
        "            _check(log, fresh)\n",
        "",
        (f"{CONTENT}::test_what_can_not_be_written_down_is_refused_before_anything_is_written",),
    ),
    Guard(
        "no id becomes a path",
        "home.py",
        "    if not is_id(game):\n        raise UsageError",
        "    if False:\n        raise UsageError",
        (f"{CONTENT}::test_no_id_becomes_a_path",),
    ),
    Guard(
        "names hold no character that turns writing round",
        "events.py",
        '    if hidden := _hidden(normal):\n        raise UsageError(f"the name',
        '    if hidden := "":\n        raise UsageError(f"the name',
        ("test_events.py::test_a_name_that_could_not_stand_in_a_table_is_refused",),
    ),
    Guard(
        "characters that a terminal obeys are escaped",
        "render.py",
        "    if text.isascii() and text.isprintable():",
        "    if True:",
        ("test_query.py::test_a_statement_is_answered_and_nothing_happens",),
    ),
    Guard(
        "no cell of CSV is run as a formula",
        "render.py",
        """("'" if value.startswith(FORMULA) else "")""",
        '""',
        ("test_cli.py::test_a_csv_cell_that_a_spreadsheet_would_run_is_made_harmless",),
    ),
    Guard(
        "a ruleset is not based on itself",
        "rulebook.py",
        "    if place in seen:\n",
        "    if False:\n",
        ("test_rules.py::test_based_on_may_not_go_round_in_a_circle",),
    ),
    Guard(
        "an archived file is compared with its hash",
        "archive.py",
        "    if sha256(path) != file.sha256:",
        "    if False:",
        ("test_checks.py::test_a_damaged_part_is_found_though_size_and_time_are_as_before",),
    ),
    Guard(
        "a manifest names files of the archive alone",
        "archive.py",
        "NAME.fullmatch(file.name) and file.name == name_of(table, file.sha256)",
        "True",
        ("faults/test_guards.py::test_a_manifest_lists_files_of_its_archive_alone",),
    ),
    Guard(
        "a query reaches no file",
        "query.py",
        '    "SET enable_external_access = false",\n',
        "",
        ("test_query.py::test_a_statement_is_refused_in_one_line_and_nothing_happens",),
    ),
    Guard(
        "a query changes no setting",
        "query.py",
        '    "SET lock_configuration = true",\n',
        "",
        ("test_query.py::test_a_statement_is_answered_and_nothing_happens",),
    ),
    Guard(
        "a query has one statement",
        "query.py",
        "    if len(statements) != 1:\n",
        "    if not statements:\n",
        ("test_query.py::test_a_statement_is_refused_in_one_line_and_nothing_happens",),
    ),
    Guard(
        "a query ends when its time is over",
        "query.py",
        "if not done.wait(limits.seconds):",
        "if not done.wait():",
        ("faults/test_guards.py::test_a_query_ends_when_its_time_is_over",),
    ),
    Guard(
        "a query changes no file, whatever DuckDB allows",
        "query.py",
        "confined = give_up_changes()",
        "confined = True",
        ("test_query.py::test_the_files_that_a_query_may_read_can_not_be_written_to",),
    ),
    Guard(
        "DuckDB's own threads are confined too",
        "query.py",
        "            confined = give_up_changes()  # before DuckDB starts threads of its own\n"
        "            with closing(archive.connect(min(os.cpu_count() or 1, MOST_THREADS))) as con:\n",
        "            with closing(archive.connect(min(os.cpu_count() or 1, MOST_THREADS))) as con:\n"
        "                confined = give_up_changes()\n",
        ("test_query.py::test_every_thread_that_answers_is_confined",),
    ),
    Guard(
        "a log that goes on after the end of its game is no game that is followed",
        "kernel.py",
        "if due == 0 or who[at] != seat:",
        "if who[at] != seat:",
        ("test_followed.py::test_starts_that_the_fold_refuses_are_not_followed",),
    ),
    Guard(
        "points that were banked are compared where games are followed",
        "kernel.py",
        "(ends and banked[at] != now)",
        "False",
        ("test_followed.py::test_nothing_that_the_fold_refuses_is_followed",),
    ),
    Guard(
        "what is legal is asked where games are followed",
        "kernel.py",
        "not legal & (MAY_BANK if ends else MAY_THROW) or",
        "False or",
        ("test_followed.py::test_nothing_that_the_fold_refuses_is_followed",),
    ),
)


def copy(folder: Path) -> None:
    """Make a copy of all that the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)


def outcome(folder: Path, tests: tuple[str, ...]) -> tuple[int, str]:
    """Run tests in a copy; return pytest's exit code (1: some failed) and the last lines that it wrote."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(f"tests/{test}" for test in tests),
    ]
    env = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return -1, "the tests never ended"
    return done.returncode, done.stdout[-800:]


def broken(guard: Guard) -> str:
    """Break a guard in a copy and run its tests; say what is wrong when none of them fails."""
    with tempfile.TemporaryDirectory(prefix="tenklog-guard-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy(folder)
        path = folder / "tenklog" / guard.file
        text = path.read_text(encoding="utf-8")
        if text.count(guard.old) != 1:
            return f"its text stands {text.count(guard.old)} times in {guard.file}"
        path.write_text(text.replace(guard.old, guard.new), encoding="utf-8")
        code, told = outcome(folder, guard.tests)
    return "" if code == 1 else f"NOT NOTICED: pytest ended with {code}\n{told}"


def main() -> int:
    """Break what is asked for, one after another, print what came of it, and return the exit code."""
    chosen = [guard for guard in GUARDS if all(word in guard.name for word in sys.argv[1:])]
    with tempfile.TemporaryDirectory(prefix="tenklog-guard-", ignore_cleanup_errors=True) as name:
        copy(Path(name))
        code, told = outcome(Path(name), tuple(dict.fromkeys(test for guard in chosen for test in guard.tests)))
    if code:
        print(f"the tests fail though nothing is broken:\n{told}")
        return 1
    unseen = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for guard, wrong in zip(chosen, pool.map(broken, chosen), strict=True):
            print(f"{guard.name}: {wrong or 'noticed'}", flush=True)
            unseen += bool(wrong)
    print(f"{len(chosen)} guards, {unseen} can be lost unseen")
    return int(unseen > 0)


if __name__ == "__main__":
    sys.exit(main())
