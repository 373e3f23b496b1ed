"""Show that tenklog works with the lowest versions of its dependencies that it declares.

    python tests/lowest.py              in a fresh environment, in a folder that is removed at the end
    python tests/lowest.py --keep DIR   in that folder, which stays

It installs every dependency that has a lowest version (libraries, extras and what tests need; no linters) in exactly
that version and runs a part of the tests that uses all of them. Exits with what pytest exits with.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Linters find other faults with each version; the rest is not used by these tests, and large.
LEFT_OUT = {"mypy", "ruff", "atheris", "axe-playwright-python", "playwright", "numba", "pyspark", "pandas"}
TESTS = (
    "test_bad.py", "test_events.py", "test_store.py", "test_supply.py", "test_upgrades.py", "faults/test_content.py",
    "test_cli.py::test_output_is_as_it_was_reviewed", "test_cli.py::test_the_commands_of_the_readme_print_what_it_says",
    "test_query.py::test_a_statement_is_answered_and_nothing_happens",
    "test_query.py::test_parquet_holds_values_and_types",
    "test_archive.py::test_every_sample_log_that_is_over_comes_out_as_it_went_in",
    "test_bulk.py::test_threads_and_processes_make_the_same",
    "test_simulate.py::test_large_numbers_change_nothing_in_that",
)  # fmt: skip
# How click says that there is no such option, and how a package names its licence, is theirs to change.
NOT = "not no-option and not licence and not permissive"


def lowest() -> list[str]:
    """Return the dependencies that declare a lowest version, each pinned to it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    declared = [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
    ]
    pins = {}
    for one in declared:
        found = re.match(r"([A-Za-z0-9_-]+)(?:\[[a-z,]+\])?>=([0-9.]+)", one)
        if found and found[1] not in LEFT_OUT and ";" not in one:
            pins[found[1]] = found[2]
    return [f"{name}=={version}" for name, version in sorted(pins.items())]


def run(folder: Path) -> int:
    """Make the environment in a folder and run the tests in it."""
    pins = lowest()
    print("lowest versions:", *pins, flush=True)
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT), *pins], check=True)
    tests = [f"tests/{name}" for name in TESTS]
    # From the checkout, whose folder comes first: the installed copy only stands for what it asks for.
    command = [python, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", "-k", NOT, *tests]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, check=False).returncode


def main() -> int:
    """Read the command line and return the exit code."""
    parser = argparse.ArgumentParser(description="Test with the lowest declared versions.")
    parser.add_argument("--keep", type=Path, metavar="DIR")
    given = parser.parse_args()
    if given.keep:
        return run(given.keep.resolve())
    with tempfile.TemporaryDirectory(prefix="tenklog-lowest-") as folder:
        return run(Path(folder))


if __name__ == "__main__":
    sys.exit(main())
