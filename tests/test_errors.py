"""Every error that tenklog can raise has a case in `bad/`, or a test that asserts its words and stands in a table.

The words of errors are taken from the source: each text that `what` and `right` of one can be, as a pattern. What only
hands on the words of another error has none of its own. `tables/errors.csv` is for those that no command line brings
about: a full disk, a missing extra, somebody else's write, a limit that takes long to reach.
"""

import ast
import csv
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from msgspec import Struct

from tenklog import errors

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "tenklog"
KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
# `Line.error` makes an error at its place of a text; of a pipe that was closed nothing is said.
MAKERS = {*KINDS, "error"} - {"PipeClosed"}
SAID = [path.read_text(encoding="utf-8").splitlines()[-1] for path in sorted(TESTS.glob("bad/*.txt"))]
with (TESTS / "tables" / "errors.csv").open(encoding="utf-8", newline="") as rows:
    ELSEWHERE = list(csv.DictReader(rows))


def patterns(text: ast.expr | None, *within: ast.AST) -> list[str]:
    """Return the patterns of all texts that an expression can be, names in it as they are given a value `within`."""
    match text:
        case ast.Constant(value=str(value)):
            return [re.escape(value)]
        case ast.JoinedStr(values=parts):
            return ["".join(re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in parts)]
        case ast.IfExp(body=one, orelse=other):
            return patterns(one, *within) + patterns(other, *within)
        case ast.BinOp(left=left, right=right):
            return [one + other for one, other in product(patterns(left, *within), patterns(right, *within))]
        case ast.Name(id=name):
            for place in within:
                given = [one for one in ast.walk(place) if isinstance(one, ast.Assign)]
                values = [one.value for one in given if ast.unparse(one.targets[0]) == name]
                if values:
                    return [pattern for value in values for pattern in patterns(value, *within)]
    return [".*"]


class Place(Struct, frozen=True):
    """Where a module makes an error, one of the texts that it says there, and what the whole line may be then."""

    module: str
    line: int
    what: str
    whole: list[str]


def places(path: Path) -> Iterator[Place]:
    """Yield the places of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = ast.Module([one for one in tree.body if isinstance(one, ast.Assign)], [])
    within: dict[ast.AST, ast.AST] = {}
    for function in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)):
        within |= dict.fromkeys(ast.walk(function), function)  # inner ones come later
    for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2] in MAKERS and call.args:
            scope = (within[call], constants)
            rights = patterns(call.args[1], *scope) if len(call.args) > 1 else [""]
            for what in patterns(call.args[0], *scope):
                whole = [f"{what}.*; {right}" if right else what for right in rights]
                yield Place(path.relative_to(PACKAGE).as_posix(), call.lineno, what, whole)


PLACES = [place for path in sorted(PACKAGE.rglob("*.py")) for place in places(path)]


def spoken(place: Place, said: list[str]) -> bool:
    """Tell whether any of some lines is what is said at a place."""
    return any(re.search(pattern, line) for pattern in place.whole for line in said)


def source(where: str) -> str:
    """Return the text of a test, or of the last line of a case."""
    path, _, name = where.partition("::")
    text = (TESTS / path).read_text(encoding="utf-8")
    if not name:
        return text.splitlines()[-1]
    (found,) = (one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name == name)
    return ast.get_source_segment(text, found) or ""


def test_every_error_has_a_case_or_stands_in_the_table() -> None:
    excused = {(row["module"], row["words"]) for row in ELSEWHERE}
    missing = [
        f"{place.module}:{place.line}: {place.what}"
        for place in PLACES
        if not spoken(place, SAID)
        and not any(place.module == module and re.search(place.what, words) for module, words in excused)
    ]
    assert missing == [], "each needs a case in bad/, or a row in tables/errors.csv with the test of its words"


@pytest.mark.parametrize("row", ELSEWHERE, ids=lambda row: f"{row['module']}: {row['words']}")
def test_an_error_in_the_table_is_needed_there_and_its_words_are_asserted(row: dict[str, str]) -> None:
    known = [one for one in PLACES if one.module == row["module"] and re.search(one.what, row["words"])]
    assert known, "no such error is made there"
    assert not all(spoken(one, SAID) for one in known), "it has a case in tests/bad"
    assert row["words"] in source(row["test"]).replace("\\", "")
