"""Dice: this module parses, writes, sorts and counts sets of one to six dice; it knows no rules.

A set of dice is an ascending tuple of faces 1 to 6, such as (1, 3, 3, 4, 4, 6). A throw is the same in thrown order.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, permutations
from math import factorial
from typing import Annotated

from msgspec import Meta

from tenklog.errors import UsageError

MOST = 6
Die = Annotated[int, Meta(ge=1, le=6)]
Dice = tuple[int, ...]
Throw = Annotated[tuple[Die, ...], Meta(min_length=1, max_length=MOST)]


def parse(text: str) -> Dice:
    """Read `133446`, `1 3 3 4 4 6` or `1,3,3,4,4,6` in the order given; raise UsageError for anything else."""
    faces = text.replace(",", " ").replace(" ", "")
    wrong = next((character for character in faces if character not in "123456"), None)
    if wrong is not None:
        raise UsageError(f"{wrong!r} is no die", "dice are digits 1 to 6, such as 133446")
    if not 1 <= len(faces) <= MOST:
        raise UsageError(f"{len(faces)} dice given", f"give 1 to {MOST} dice, such as 133446")
    return tuple(map(int, faces))


def write(dice: Iterable[int], joint: str = " ") -> str:
    """Write dice for people, `1 3 3`, or with another joint, such as `1-3-3` in tables."""
    return joint.join(map(str, dice))


def parts(dice: Dice) -> Iterator[Dice]:
    """Yield every different non-empty part of a set of dice, small ones first."""
    for size in range(1, len(dice) + 1):
        yield from dict.fromkeys(combinations(dice, size))


def minus(dice: Dice, taken: Iterable[int]) -> Dice | None:
    """Take dice out of a set of dice; None when one of them is not there."""
    rest = list(dice)
    for die in taken:
        if die not in rest:
            return None
        rest.remove(die)
    return tuple(rest)


def sets(most: int = MOST) -> Iterator[Dice]:
    """Yield all sets of 1 to `most` dice, by size, then ascending: 923 of them for six."""
    for size in range(1, most + 1):
        yield from combinations_with_replacement(range(1, 7), size)


def matches(pattern: str) -> Iterator[tuple[Dice, dict[str, int]]]:
    """Yield each set of dice that a pattern stands for, with the faces of its letters.

    A digit is that face; a letter is any one face, and different letters are different faces (`AABBCC` is three
    separate pairs). A letter may be the face of a digit beside it.
    """
    letters = sorted(set(pattern) - set("123456"))
    for faces in permutations(range(1, 7), len(letters)):
        meant = dict(zip(letters, faces, strict=True))
        yield tuple(sorted(meant.get(sign) or int(sign) for sign in pattern)), meant


@lru_cache(maxsize=512)  # more than a ruleset has patterns, or each roll would work all of them out anew
def _shapes(pattern: str) -> frozenset[Dice]:
    return frozenset(dice for dice, _ in matches(pattern))


def contains(dice: Dice, pattern: str) -> bool:
    """Tell whether some of the dice match a pattern."""
    return any(minus(dice, shape) is not None for shape in _shapes(pattern))


def throws(dice: Dice) -> int:
    """Count the ordered throws that show this set of dice."""
    count = factorial(len(dice))
    for face in set(dice):
        count //= factorial(dice.count(face))
    return count
