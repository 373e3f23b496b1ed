"""What comes with tenklog: each library, direct or not, is in the list with its licence, and the list is right.

`tests/tables/licences.csv` is written by hand. Whoever adds a dependency adds it there too, after reading its licence.
That the lowest declared versions work is shown by `tests/lowest.py`.
"""

import csv
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TESTS = Path(__file__).parent
with (TESTS / "tables" / "licences.csv").open(encoding="utf-8", newline="") as lines:
    LISTED = {row["package"]: row for row in csv.DictReader(lines)}

# What MIT-licensed code may be shipped with, without a duty that reaches its users.
PERMISSIVE = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "PSF-2.0", "ISC", "0BSD", "Zlib", "CC0-1.0"}
# As older metadata says it, in a classifier or in free words.
SAID = {
    "MIT License": {"MIT"},
    "BSD License": {"BSD-2-Clause", "BSD-3-Clause"},
    "Apache Software License": {"Apache-2.0", "Apache-2.0 OR BSD-2-Clause"},
    "Apache 2.0": {"Apache-2.0"},
    "Mozilla Public License 2.0 (MPL 2.0)": {"MPL-2.0"},
    "Python Software Foundation License": {"PSF-2.0"},
}
# Their metadata says nothing; their repositories have the text of Apache 2.0 and of MIT.
SILENT = {"atheris", "axe-playwright-python"}


def installed(*extras: str) -> dict[str, Distribution]:
    """Return what is installed here of all that tenklog with some extras asks for, directly or not."""
    found: dict[str, Distribution] = {}
    asked = [("tenklog", extra) for extra in ("", *extras)]
    seen: set[tuple[str, str]] = set()
    while asked:
        name, extra = asked.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue  # of an extra that nobody asked for here
        if name != "tenklog":
            found[name] = one
        for text in one.requires or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                to = canonicalize_name(needed.name)
                asked += [(to, ""), *((to, more) for more in needed.extras)]
    return found


def extras() -> list[str]:
    return distribution("tenklog").metadata.get_all("Provides-Extra") or []


def licences(one: Distribution) -> set[str]:
    """Return what a package's metadata says, any of which would be right; nothing when it says nothing."""
    about = one.metadata
    if about["License-Expression"]:
        return {about["License-Expression"]}
    kinds = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    words = [kind for kind in kinds if kind != "OSI Approved"] or ([about["License"]] if about["License"] else [])
    return {meant for word in words for meant in SAID.get(word, {word})}


ALL = installed(*extras())


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_library_is_listed_with_the_licence_that_it_has(name: str) -> None:
    assert name in LISTED, f"{name} is not in tests/tables/licences.csv: {licences(ALL[name])}"
    assert LISTED[name]["licence"] in (licences(ALL[name]) or {LISTED[name]["licence"]})
    assert licences(ALL[name]) or name in SILENT


def test_what_users_get_is_permissive_and_known_to_be_for_them() -> None:
    tools = ("dev", "fuzz")
    shipped = installed(*(extra for extra in extras() if extra not in tools))
    assert {"click", "duckdb", "msgspec", "tabulate", "wcwidth"} <= shipped.keys()
    for name in shipped:
        assert LISTED[name]["for"] == "tenklog", name
        assert {*re.split(" AND | OR ", LISTED[name]["licence"])} <= PERMISSIVE, name


def test_nothing_is_ever_kept_in_a_form_that_runs_code_when_it_is_read() -> None:
    for path in (TESTS.parent / "tenklog").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(?:import|from) (?:pickle|shelve|marshal|dill|joblib)\b", text, re.MULTILINE), path


def test_the_list_is_in_order_and_has_nothing_twice() -> None:
    with (TESTS / "tables" / "licences.csv").open(encoding="utf-8", newline="") as lines:
        names = [row["package"] for row in csv.DictReader(lines)]
    assert names == sorted(set(names))
