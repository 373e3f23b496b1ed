"""Miswritten: this module says how a number may have come to be written for another, and how unlikely that is.

Digits that changed places, were lost or doubled, a wrong one, a minus too many or too few. It knows no rules.
"""

from functools import lru_cache

LIKELY, UNLIKELY = 1, 2  # what people do, and what they seldom do
UNKNOWN = 5  # no slip of a pen
EMPTY = 1.5  # nothing is written


def relation(written: int | None, right: int | None) -> tuple[str, float]:
    """Say how a number came to be written for another, and how unlikely that is; nothing and 5 where nobody knows."""
    if written is None or right is None:
        return "", EMPTY
    if written == 0:
        return "", UNKNOWN - 1  # nobody writes 300 so that 0 is left
    if written == -right:
        return "the minus is missing" if right < 0 else "a minus too many", LIKELY
    if (written < 0) != (right < 0) and right:
        return "", UNKNOWN
    a, b = str(abs(written)), str(abs(right))
    if _transposed(a.zfill(len(b)), b):  # 150 was 0150
        return "digits transposed", LIKELY
    if abs(written) in map(int, _shorter(b)):
        return "a digit is missing", LIKELY
    if abs(right) in map(int, _shorter(a)):
        return "a digit too many", UNLIKELY
    if len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1:
        return "a wrong digit", UNLIKELY
    return "", UNKNOWN


def _transposed(a: str, b: str) -> bool:
    return len(a) == len(b) and a != b and a in _swapped(b)


def _swapped(digits: str) -> list[str]:
    """Return a number with every two digits beside each other exchanged."""
    return [digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :] for at in range(len(digits) - 1)]


def _shorter(digits: str) -> list[str]:
    """Return a number without each of its digits."""
    return [digits[:at] + digits[at + 1 :] or "0" for at in range(len(digits))]


@lru_cache(maxsize=1 << 14)
def neighbours(written: int) -> frozenset[int]:
    """Return every number for which this one could have been written by a small slip."""
    digits = str(abs(written))
    found = [*_swapped(digits), *_shorter(digits)]
    for one in "0123456789":
        found += [digits[:at] + one + digits[at:] for at in range(len(digits) + 1)]
        found += [digits[:at] + one + digits[at + 1 :] for at in range(len(digits))]
    if len(digits) > 1:
        found.append(digits[0] + "0" + digits[1:])  # 0150 is written 150: the first two changed places
    sign = -1 if written < 0 else 1
    return frozenset({sign * int(one) for one in found} | {-written}) - {written}
