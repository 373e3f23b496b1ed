"""Ledger: this module makes the rows of games that were played or followed together, and the lines of those played.

Both are those that `rows` and `lines` would make of each game by itself. Columns of many games are made at once; only
the lines, each hashed after the one before, go game by game. Needs numpy and pyarrow.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import json
from msgspec.structs import replace

from tenklog import events
from tenklog.dice import MOST
from tenklog.jit import compiled
from tenklog.kernel import BANKS, FREE
from tenklog.lockstep import THROWS, Board, Columns, Played
from tenklog.rows import of_rules
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.tables import SETS
from tenklog.transitions import KINDS, POSTS, Ints

LAID = np.array([*(THROWS[dice] for dice in SETS), -1])  # dice that were kept, as a throw; of none (-1) none
FACES = np.array([face for throw in THROWS for face in throw], np.uint8)  # of all throws
BEGINS = np.cumsum([0, *map(len, THROWS)])  # where those of each begin
BATCH = 25  # games of which the lines are held at once: more would leave the cache before they are hashed
TYPES = ("start", "roll", "keep", "bank", "bust")
START, ROLL, KEEP, BANK, BUST = range(len(TYPES))
# An event of each kind of line but the first, and what in it is the tail.
FORMS = (
    (ROLL, events.Roll(1, player="", dice=(1,)), b"[1]"),
    (KEEP, events.Keep(1, player="", dice=(1,)), b"[1]"),
    (BANK, events.Bank(1, player="", points=1), b"1"),
    (BUST, events.Bust(1, player=""), b""),
)
# Texts by their numbers. They are made once: pyarrow looks for pandas each time that it is given a list.
KINDS_OF_LINES = pa.array(TYPES)
OUTCOMES = pa.array([outcome for outcome, _, _ in KINDS])
RESULTS = pa.array(["bust", "kept", "free"])
DECISIONS = pa.array(["roll", "bank"])
FINISHED = pa.array(["finished"])
# What `rows.of_lines` says.
SAID = pa.struct({
    "ended": pa.string(), "seq": pa.int32(), "h": pa.string(), "first_h": pa.string(), "sealed": pa.bool_(),
    "digest": pa.string(),
})  # fmt: skip


class Ledger:
    """Writes down games of some players under one ruleset. What is equal in many lines is written once."""

    def __init__(self, board: Board, players: Sequence[str]) -> None:
        self.board, self.players = board, players
        self._names, self._agreed = pa.array(players), agreed_by(board.rules)
        table = Table.of(board.rules)
        self._asides = [table.aside(one.dice) for one in board.choices]
        # A line is a head, by kind, player and number, and a tail, by what it is about.
        self._heads = np.empty((len(TYPES), len(players), 0), object)
        self._throws = _texts(map(json.encode, THROWS))
        keeps = (  # of a choice to keep nothing there is no line
            events.Keep(1, player="", dice=one.dice or (1,), aside=aside)
            for one, aside in zip(board.choices, self._asides, strict=True)
        )
        self._keeps = _texts(events.encode(keep)[:-1].partition(b'"dice":')[2] for keep in keeps)

    def write(self, starts: Sequence[events.Start], played: Played, chosen: Ints) -> dict[str, pa.Table]:
        """Return the rows of some games that were played to their ends, by table; `starts` are theirs."""
        games = np.cumsum(chosen) - 1  # the number of each game among those
        rolls, turns = (_those(made, chosen, games) for made in (played.rolls, played.turns))
        count, lines = lay_out(len(starts), rolls, turns)
        texts = [events.encode(start) for start in starts]
        said: list[dict[str, Any]] = []  # of the lines of each game
        begin = 0
        for first in range(0, len(count), BATCH):
            some = count[first : first + BATCH]
            those = slice(begin, begin := begin + int(some.sum()))
            bodies = self._bodies(texts[first : first + BATCH], {name: one[those] for name, one in lines.items()})
            end = 0
            for number in some.tolist():
                of_game, end = bodies[end : end + number], end + number
                hashes = events.hashes(of_game)
                digest = events.digest(events.sealed(of_game, hashes))
                ends = {"first_h": hashes[0].decode(), "h": hashes[-1].decode()}
                said.append({"ended": None, "seq": number, **ends, "sealed": True, "digest": digest})
        common, told = of_games(starts), [text.decode() for text in texts]
        return results_of(starts, common, said, self._agreed, played, chosen) | {
            "turns": turns_of(turns, common, self._names, len(self.players) == 1),
            "rolls": rolls_of(rolls, common, self._names, self.board),
            "events": events_of(lines, common["game"], self._names, told, self._aside(lines)),
        }

    def _bodies(self, starts: Sequence[bytes], lines: Columns) -> list[bytes]:
        """Return the lines of all games without their hashes and closing braces; `starts` are the first ones."""
        kind, player, seq, value = (lines[name] for name in ("kind", "player", "seq", "value"))
        bodies = self._heads_to(int(seq.max(initial=0)))[kind, player, seq]
        bodies[kind == START] = [start[:-1] for start in starts]
        for one, tails in ((ROLL, self._throws), (KEEP, self._keeps)):
            there = np.flatnonzero(kind == one)
            bodies[there] += tails[value[there]]
        there = np.flatnonzero(kind == BANK)
        points, which = np.unique(value[there], return_inverse=True)
        bodies[there] += _texts(b"%d" % one for one in points.tolist())[which]
        found: list[bytes] = bodies.tolist()
        return found

    def _aside(self, lines: Columns) -> dict[str, pa.Array]:
        """Return which dice left the table with a keep, where the rules ask for it."""
        if not any(self._asides):
            return {}
        asides = pa.array([*self._asides, None], pa.list_(pa.uint8()))
        return {"aside": asides.take(pa.array(np.where(lines["kind"] == KEEP, lines["value"], len(self._asides))))}

    def _heads_to(self, most: int) -> Ints:
        """Return what lines begin with, by kind, player and number, up to the highest number."""
        if self._heads.shape[2] <= most:
            numbers = range(most + most // 4 + 1)
            self._heads = np.empty((len(TYPES), len(self.players), len(numbers)), object)
            for kind, event, tail in FORMS:
                for number, player in enumerate(self.players):
                    form = events.encode(replace(event, player=player))[:-1].removesuffix(tail)
                    begin, _, end = form.partition(b"1")  # the number of the line
                    self._heads[kind, number] = [b"%b%d%b" % (begin, one, end) for one in numbers]
        return self._heads


def lay_out(games: int, rolls: Columns, turns: Columns) -> tuple[Ints, Columns]:
    """Return how many lines each game has, and columns of all lines; rolls and turns get the numbers of theirs.

    What a line is about, its `value`, is a throw, a choice, or points; its `dice` are a throw, or none (-1).
    """
    laid, ended = laid_aside(rolls), rolls["ended"]
    lines = np.empty((6, games + len(ended) + (laid >= 0).sum() + ended.sum()), np.int32)
    seq = rolls["seq"] = np.empty(len(ended), np.int32)
    names = ("game", "player", "throw", "choice", "points", "lost")
    _lay_out(*(rolls[name] for name in names), laid, ended, seq, lines)
    turns |= {"first_seq": seq[rolls["roll"] == 1], "last_seq": (seq + (laid >= 0) + 1)[ended]}
    found = dict(zip(("game", "seq", "kind", "player", "value", "dice"), lines, strict=True))
    return np.bincount(found["game"], minlength=games), found


@compiled
def _line(lines: Any, at: int, game: int, seq: int, kind: int, player: int, value: int, dice: int) -> None:
    lines[0, at], lines[1, at], lines[2, at] = game, seq, kind
    lines[3, at], lines[4, at], lines[5, at] = player, value, dice


@compiled
def _lay_out(
    game: Any, player: Any, throw: Any, choice: Any, points: Any, lost: Any, laid: Any, ended: Any, seqs: Any,
    lines: Any,
) -> None:  # fmt: skip
    at, of_game, seq = 0, np.int64(-1), np.int64(0)
    for roll in range(len(game)):
        if game[roll] != of_game:
            of_game, seq = np.int64(game[roll]), np.int64(1)
            _line(lines, at, of_game, seq, START, 0, 0, -1)
            at += 1
        seq += 1
        seqs[roll] = seq
        _line(lines, at, of_game, seq, ROLL, player[roll], throw[roll], throw[roll])
        at += 1
        if laid[roll] >= 0:
            seq += 1
            _line(lines, at, of_game, seq, KEEP, player[roll], choice[roll], laid[roll])
            at += 1
        if ended[roll]:
            seq += 1
            _line(lines, at, of_game, seq, BUST if lost[roll] else BANK, player[roll], points[roll], -1)
            at += 1


def laid_aside(rolls: Columns) -> Ints:
    """Return the dice kept of rolls as throws, none as -1: in the order of sets, or in their own (`laid`)."""
    found: Ints = rolls["laid"] if "laid" in rolls else LAID[rolls["kept"]]
    return found


def _texts(texts: Iterable[bytes]) -> Ints:
    """Return texts in an array; they are added to each other then as they are by themselves."""
    found = list(texts)
    array = np.empty(len(found), object)
    array[:] = found
    return array


def _those(made: Columns, chosen: Ints, games: Ints) -> Columns:
    """Return the columns of chosen games alone, numbered anew."""
    there = chosen[made["game"]]
    some = made if there.all() else {name: one[there] for name, one in made.items()}
    return some | {"game": games[some["game"]]}


# -- columns ----------------------------------------------------------------------------------------------------------


def _whole(values: Ints, kind: type[np.integer[Any]], null: Ints | None = None) -> pa.Array:
    return pa.array(values.astype(kind), mask=null)


def _words(words: pa.Array, which: Ints, null: Ints | None = None) -> pa.DictionaryArray:
    """Return texts, each one of some words, as a dictionary: it is written as it is."""
    coded = words.dictionary_encode()  # each once
    return pa.DictionaryArray.from_arrays(coded.indices.take(pa.array(which, mask=null)), coded.dictionary)


def _lists(throws: Ints) -> pa.Array:
    """Return dice, given as throws, as lists; null for none (-1)."""
    ends, dice = _gathered(throws, FACES, BEGINS)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(dice), mask=pa.array(throws < 0))


@compiled
def _gathered(throws: Any, faces: Any, begins: Any) -> Any:
    """Return where the dice of throws end, and all of these (Arrow itself takes three times as long)."""
    ends, dice, end = np.zeros(len(throws) + 1, np.int32), np.empty(MOST * len(throws), np.uint8), 0
    for place in range(len(throws)):
        throw = throws[place]
        if throw >= 0:
            for at in range(begins[throw], begins[throw + 1]):
                dice[end] = faces[at]
                end += 1
        ends[place + 1] = end
    return ends, dice[:end]


def of_games(starts: Sequence[events.Start]) -> dict[str, pa.Array]:
    """Return what the rows of games have in common."""
    found: dict[str, list[Any]] = {"game": [one.game for one in starts], "rules": [one.rules.name for one in starts]}
    found |= {"origin": [one.origin for one in starts], "begun": [one.time for one in starts]}
    return {name: pa.array(texts, pa.string()) for name, texts in found.items()}


def times(texts: pa.Array) -> pa.Array:
    """Return times as they stand in a log, in UTC."""
    return texts.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))


def _of_seat(made: Columns, games: dict[str, pa.Array], names: pa.Array) -> dict[str, Any]:
    return {
        **{name: _words(games[name], made["game"]) for name in ("game", "rules", "origin")},
        "begun": times(games["begun"]).take(pa.array(made["game"])),
        "seat": _whole(made["seat"] + 1, np.uint8),
        "player": _words(names, made["player"]),
    }


def _of_turn(made: Columns, games: dict[str, pa.Array], names: pa.Array) -> dict[str, Any]:
    of_turn = {"turn": _whole(made["turn"] + 1, np.int32), "round": _whole(made["round"], np.int32)}
    return _of_seat(made, games, names) | of_turn


def agreed_by(rules: Ruleset) -> dict[str, pa.Array]:
    """Return what the row of a game says of its rules, each an array of one value."""
    found = of_rules(rules)
    # A mapping would lose the order of its keys in older versions of pyarrow.
    values = [pa.array([value]) for value in found["settings"].values()]
    return {
        "rules_hash": pa.array([found["rules_hash"]]),
        "ruleset": pa.array([found["ruleset"]]),
        "settings": pa.StructArray.from_arrays(values, [*found["settings"]]),
    }


def results_of(
    starts: Sequence[events.Start], games: dict[str, pa.Array], lines: Sequence[Mapping[str, Any]],
    agreed: dict[str, pa.Array], played: Played, chosen: Ints,
) -> dict[str, pa.Table]:  # fmt: skip
    """Return the rows of the chosen games and of their seats.

    `lines` says of each game what `rows.of_lines` does, `agreed` what `agreed_by` does of its rules.
    """
    total, turns, busts, opened = (one[chosen] for one in (played.total, played.count, played.busts, played.opened))
    won = total == total.max(1, keepdims=True)
    count, seats = total.shape
    players = pa.array([start.players for start in starts], pa.list_(pa.string()))
    names = players.flatten()
    of_game, seat = np.divmod(np.arange(count * seats), seats)
    winners = won.sum(1)
    alike = np.zeros(count, np.int8)
    said = dict(zip((one.name for one in SAID), pa.array(lines, SAID).flatten(), strict=True))
    rows = {
        "begun": times(games["begun"]),
        "title": pa.array([start.title for start in starts], pa.string()),
        "status": _words(FINISHED, alike),
        "players": players,
        "winners": pa.ListArray.from_arrays(np.cumsum([0, *winners]), names.filter(pa.array(won.ravel()))),
        "rounds": _whole(played.rounds[chosen], np.int32),
        "turns": _whole(turns.sum(1), np.int32),
        "events": said["seq"],
        "rule_changes": _whole(alike, np.int32),
        **{name: _words(agreed[name], alike) for name in ("rules_hash", "ruleset")},
        "settings": agreed["settings"].take(pa.array(alike)),
        "replay_of": pa.array([start.of for start in starts], pa.string()),
        **said | {"ended": times(said["ended"])},
        "measured": pa.repeat(False, count),
    }
    of_seats = {
        "status": _words(FINISHED, alike[of_game]),
        "players": _whole(np.full(count * seats, seats), np.uint8),
        "place": _whole(1 + (total[:, :, None] < total[:, None, :]).sum(2).ravel(), np.uint8),
        "total": pa.array(total.ravel(), pa.int64()),
        "won": pa.array(won.ravel()),
        "shared": pa.array((won & (winners > 1)[:, None]).ravel()),
        "opened": pa.array(opened.ravel()),
        "turns": _whole(turns.ravel(), np.int32),
        "busts": _whole(busts.ravel(), np.int32),
        "left": pa.repeat(False, count * seats),
    }
    who = {"game": of_game, "seat": seat, "player": of_game * seats + seat}
    return {
        "games": pa.table(games | rows),
        "seats": pa.table(_of_seat(who, games, names) | of_seats),
    }


def turns_of(turns: Columns, games: dict[str, pa.Array], names: pa.Array, alone: bool) -> pa.Table:
    """Return the rows of turns that were played; `games` are theirs, `names` those of players by number."""
    posts, count = turns["kind"] == POSTS, len(turns["game"])
    numbers = {"rolls", "hot_dice", "busts_running", "scores_running", "first_seq", "last_seq"}
    return pa.table(
        _of_turn(turns, games, names)
        | {key: _whole(turns[key], np.int32) for key in numbers}
        | {key: pa.array(turns[key], pa.int64()) for key in ("points", "posted", "change", "total")}
        | {
            "outcome": _words(OUTCOMES, turns["kind"]),
            "total_before": pa.array(turns["before"], pa.int64()),
            "lead": pa.array(turns["lead"], pa.int64(), mask=np.full(count, alone)),
            "dice_left": _whole(turns["dice_left"], np.uint8, ~posts),
            "with_dice": pa.repeat(True, count),
            "opened": pa.array(turns["opened"]),
            "stolen": pa.repeat(False, count),
            "last": pa.array(turns["last"]),
        }
    )


def rolls_of(rolls: Columns, games: dict[str, pa.Array], names: pa.Array, board: Board) -> pa.Table:
    """Return the rows of rolls that were thrown; `games` are theirs, `names` those of players by number."""
    kept, lost, stop = rolls["kept"] >= 0, rolls["lost"], rolls["stop"]
    left = board.count[rolls["after"]]
    return pa.table(
        _of_turn(rolls, games, names)
        | {
            "roll": _whole(rolls["roll"], np.int32),
            "seq": _whole(rolls["seq"], np.int32),
            "dice": _lists(rolls["throw"]),
            "thrown": _whole(board.count[rolls["node"]], np.uint8),
            "roll_set": _whole(rolls["shown"], np.int16),
            "kept": _lists(laid_aside(rolls)),
            "kept_set": _whole(rolls["kept"], np.int16, ~kept),
            "result": _words(RESULTS, np.where(lost, 0, np.where(kept, 1, 2))),
            "points_before": pa.array(rolls["before"], pa.int64()),
            "points": pa.array(rolls["points"], pa.int64()),
            "dice_left": _whole(left, np.uint8, lost),
            "hot": pa.array(kept & (left == board.rules.dice)),
            "decision": _words(DECISIONS, stop & BANKS, lost),
            "free": pa.array(stop & FREE > 0, mask=lost),
            "bust_chance": pa.array(board.bust_chance[rolls["node"]]),
            "by_tool": pa.array(rolls["by_tool"]) if "by_tool" in rolls else pa.repeat(False, len(kept)),
        }
    )


def events_of(
    lines: Columns, ids: pa.Array, names: pa.Array, starts: Sequence[str], more: Mapping[str, pa.Array]
) -> pa.Table:
    """Return the rows of lines, of which `starts` are the first ones of games; `more` has columns besides."""
    kind = lines["kind"]
    return pa.table({
        "game": _words(ids, lines["game"]),
        "seq": _whole(lines["seq"], np.int32),
        "type": _words(KINDS_OF_LINES, kind),
        "player": _words(names, lines["player"], kind == START),
        "dice": _lists(lines["dice"]),
        "points": pa.array(lines["value"], pa.int64(), mask=kind != BANK),
        "line": pa.array(starts, pa.string()).take(pa.array(lines["game"], mask=kind != START)),
        **more,
    })  # fmt: skip
