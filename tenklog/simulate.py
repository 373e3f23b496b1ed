"""Simulate: this module plays whole games by strategies and gives them as sealed logs, equal for equal seeds.

A game depends on its plan and its number alone, so any number of processes, in any order, make the same games. Players
take turns in the first seat. The logs have no times: nobody played them. Into an archive many games are played together
(`lockstep`) where that can be done; what comes of it is the same.
"""

import os
from collections.abc import Callable, Generator, Sequence
from functools import cached_property, lru_cache, partial
from math import sqrt
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct, json, structs

from tenklog import events, files
from tenklog.advice import Option
from tenklog.archiving import archive_chunks, chunk_size
from tenklog.errors import Conflict, UsageError
from tenklog.events import digest
from tenklog.game import Game, check_players, evolve
from tenklog.lines import MOST_EVENTS, Scan, seal_all
from tenklog.reading import Log
from tenklog.rows import rows
from tenklog.rules import Ruleset
from tenklog.staging import Chunk, Known, Outcome, Taken, in_processes, is_compiled
from tenklog.state import Position, Turn
from tenklog.strategies import BEST, MOST_TURNS, WORDS, Throw, fair, next_event, play_out, strategy
from tenklog.tables import Rows
from tenklog.turns import play

if TYPE_CHECKING:
    from tenklog.ledger import Ledger
    from tenklog.lockstep import Lockstep

FEW = 500  # games that are not worth what it takes to play them together


class Plan(Struct, frozen=True, dict=True):
    """What is played: the rules, who plays by which strategy, and the seed (any whole number from 0)."""

    rules: Ruleset
    players: tuple[tuple[str, str], ...]  # name, strategy
    seed: int

    @cached_property
    def key(self) -> str:
        """Return eight hex digits that stand for this very plan in the ids of its games."""
        return digest(json.encode(self))[:8]

    def game_id(self, number: int) -> str:
        """Return the id of game number N, from 1."""
        return f"sim-{self.key}-{number:06}"

    def seated(self, number: int) -> tuple[tuple[str, str], ...]:
        """Return the players of game number N in order of seats."""
        first = (number - 1) % len(self.players)
        return self.players[first:] + self.players[:first]

    def start(self, number: int) -> events.Start:
        """Return the first event of game number N."""
        players = tuple(name for name, _ in self.seated(number))
        game = self.game_id(number)
        return events.Start(1, game=game, version=events.VERSION, players=players, rules=self.rules, origin="simulated")

    def rng(self, number: int) -> Random:
        """Return what throws the dice of game number N."""
        return Random(f"tenklog {self.key} {number}")  # noqa: S311  (dice that can be thrown again the same way)


def play_game(plan: Plan, number: int, throw: Throw = fair) -> tuple[list[events.AnyEvent], Game]:
    """Play game number N of a plan to its end; one that goes on for very many turns, or fills its log, is abandoned."""
    rng, start = plan.rng(number), plan.start(number)
    strategies = [strategy(name) for _, name in plan.seated(number)]
    log: list[events.AnyEvent] = [start]
    game = evolve(None, start)
    turns = 0
    while (turn := game.position.turn) is not None:
        ended = game.position.ended
        event: events.AnyEvent = next_event(game.position, strategies[turn.seat], rng, game.seq + 1, throw)  # type: ignore[assignment]
        full = game.seq >= MOST_EVENTS - 2 and turn.phase != "busted"  # a bust has to follow
        if turns == MOST_TURNS or full:
            why = f"not over after {MOST_TURNS} turns" if not full else "not over at the end of the log"
            event = events.Abandon(game.seq + 1, why=why)
        game = evolve(game, event)
        log.append(event)
        turns += game.position.ended is not ended
    return log, game


def sealed(plan: Plan, number: int) -> tuple[Log, Scan, bytes]:
    """Play game number N of a plan; return its log as if read, with its lines and bytes."""
    log, game = play_game(plan, number)
    lines = seal_all(log)
    data = b"\n".join(lines) + b"\n"
    found = Scan(lines, log, sealed=True, size=len(data), ended=True, torn=b"", damage=None)
    path = Path(f"{game.start.game}.jsonl")
    return Log(path, game, log, found.hash_at(game.seq), game.seq, True, "", len(data)), found, data


class Simulated(Outcome, frozen=True):
    """What became of a simulated game, and how it ended: who won, and every player's total in points."""

    winners: tuple[str, ...]
    totals: tuple[tuple[str, int], ...]


def _outcome(start: events.Start, winners: Sequence[int], totals: Sequence[int], file: str, there: bool) -> Simulated:
    won = tuple(start.players[seat] for seat in winners)
    by_player = tuple(zip(start.players, totals, strict=True))
    return Simulated(start.game, file, "already" if there else "archived", "", won, by_player)


def _outcome_of(game: Game, file: str, there: bool) -> Simulated:
    position = game.position
    return _outcome(game.start, position.winners, [seat.total for seat in position.seats], file, there)


def _play_chunk(plan: Plan, numbers: range, known: frozenset[str], luck: bool) -> Taken:
    left: Sequence[int] = numbers
    if not luck and len(numbers) >= FEW and (machine := _lockstep(json.encode(plan))) is not None:
        left = yield from _together(plan, *machine, numbers, known)
    for number in left:
        log, found, data = sealed(plan, number)
        there = log.start.game in known
        outcome = _outcome_of(log.game, str(log.path), there)
        yield outcome, {} if there else rows(log, found, data, luck)


@lru_cache(maxsize=1)
def _lockstep(told: bytes) -> "tuple[Lockstep, Ledger] | None":
    """Return what plays the games of a plan together and what writes them down.

    None when they can't be played so, or numpy, pyarrow or numba are missing.
    """
    if not is_compiled():
        return None
    from tenklog.ledger import Ledger
    from tenklog.lockstep import Lockstep

    plan = json.decode(told, type=Plan)
    machine = Lockstep.of(plan.rules, [strategy(name) for _, name in plan.players])
    if machine is None:
        return None
    return machine, Ledger(machine.board, [name for name, _ in plan.players])


def _together(
    plan: Plan, machine: "Lockstep", ledger: "Ledger", numbers: range, known: frozenset[str]
) -> Generator[tuple[Simulated, Rows], None, list[int]]:
    """Play games together; return those that have to be played one by one."""
    import numpy as np

    played = machine.play([plan.rng(number) for number in numbers], (np.array(numbers) - 1) % len(plan.players))
    starts = {place: plan.start(numbers[place]) for place in np.flatnonzero(played.over).tolist()}
    fresh = np.array([place in starts and starts[place].game not in known for place in range(len(numbers))])
    tables: Rows = {}
    if fresh.any():
        tables |= ledger.write([starts[place] for place in starts if fresh[place]], played, fresh)
    of_games = zip(starts.values(), fresh[played.over].tolist(), played.total[played.over].tolist(), strict=True)
    for start, is_fresh, totals in of_games:
        best = max(totals)
        winners = [seat for seat, total in enumerate(totals) if total == best]
        yield _outcome(start, winners, totals, f"{start.game}.jsonl", not is_fresh), tables
        tables = {}
    return [numbers[place] for place in np.flatnonzero(~played.over).tolist()]


def into_archive(
    folder: Path,
    plan: Plan,
    games: int,
    *,
    luck: bool = False,
    timeout: float = 10.0,
    processes: int = 1,
    progress: Callable[[int], object] = lambda count: None,
) -> list[Outcome]:
    """Play games 1 to N straight into an archive; those that it has already stay as they are."""

    def chunks(known: dict[str, Known]) -> list[Chunk]:
        return [
            partial(_play_chunk, plan, numbers, frozenset(map(plan.game_id, numbers)) & known.keys(), luck)
            for numbers in _parted(games, chunk_size(games, processes))
        ]

    return archive_chunks(folder, chunks, False, timeout, processes, progress)


def _parted(games: int, step: int) -> list[range]:
    return [range(first, min(first + step, games + 1)) for first in range(1, games + 1, step)]


def _shared_out(games: int, processes: int) -> list[range]:
    """Divide game numbers into chunks that keep some processes busy; a few are not worth a process."""
    return _parted(games, max(50, min(500, -(-games // processes))))


def _write_chunk(folder: Path, plan: Plan, numbers: range) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for number in numbers:
        log, _, data = sealed(plan, number)
        path = folder / log.path
        with files.telling(path):
            there = path.read_bytes() if files.exists(path) else b""
            if not data.startswith(there):
                raise Conflict(f"{path} exists already and is another log", "another folder")
            if there != data:  # none, or what a killed run left of it
                path.write_bytes(data)
        outcomes.append(_outcome_of(log.game, str(path), there == data))
    return outcomes


def into_folder(
    folder: Path,
    plan: Plan,
    games: int,
    *,
    processes: int = 1,
    progress: Callable[[int], object] = lambda count: None,
) -> list[Outcome]:
    """Write the logs of games 1 to N into a folder; they are durable when this returns, and not one by one before.

    Files of the same games are left as they are. Raises Conflict for one that is another log.
    """
    folder = Path(os.path.abspath(folder))
    with files.telling(folder):
        files.make_folder(folder)
    chunks = _shared_out(games, processes)
    outcomes: list[Outcome] = []
    for made in in_processes(partial(_write_chunk, folder, plan), chunks, processes, folder):
        outcomes += made
        progress(len(made))
    outcomes.sort(key=lambda one: one.game)
    for one in outcomes:
        if one.result == "archived":
            with files.telling(Path(one.file)), files.opened(Path(one.file), files.READ) as fd:
                files.sync(fd)
    with files.telling(folder):
        files.sync_folder(folder)
    return outcomes


def _only_played(plan: Plan, numbers: range) -> list[Outcome]:
    games = (play_game(plan, number)[1] for number in numbers)
    return [_outcome_of(game, "", False) for game in games]


def only_played(
    plan: Plan, games: int, *, processes: int = 1, progress: Callable[[int], object] = lambda count: None
) -> list[Outcome]:
    """Play games 1 to N and write nothing."""
    outcomes: list[Outcome] = []
    chunks = _shared_out(games, processes)
    for made in in_processes(partial(_only_played, plan), chunks, processes, Path()):
        outcomes += made
        progress(len(made))
    return outcomes


# -- who plays, and who won -------------------------------------------------------------------------------------------


class PlayerSummary(Struct, frozen=True):
    """A player of simulated games: strategy, games with a result, wins (shared ones too), the rate with its standard
    error, and the mean total in points.
    """  # noqa: D205

    player: str
    strategy: str
    games: int
    wins: int
    win_rate: float | None
    error: float | None
    points: float | None


class Summary(Struct, frozen=True):
    """What a simulation gave: `new` games were written, the others were there already."""

    rules: str
    seed: int
    key: str
    games: int
    new: int
    players: list[PlayerSummary]


def parse_players(text: str) -> tuple[tuple[str, str], ...]:
    """Read `anna=best,ben=hold:350`; raise UsageError for a name twice, no strategy, or one that nobody knows."""
    found: dict[str, str] = {}
    for one in text.split(","):
        name, sign, how = one.partition("=")
        if not sign:
            raise UsageError(f"{one!r} is no player", f"NAME=STRATEGY, such as anna=best; strategies are {WORDS}")
        player = events.name(name)
        if player in found:
            raise UsageError(f"two players are called {player}", "a name for each")
        found[player] = strategy(how.strip()).name
    check_players(tuple(found))
    return tuple(found.items())


def summary(plan: Plan, outcomes: list[Outcome]) -> Summary:
    """Sum up who won how often."""
    played = [one for one in outcomes if isinstance(one, Simulated)]
    over = [one for one in played if one.winners]
    players = []
    for name, how in plan.players:
        wins = sum(name in one.winners for one in over)
        rate = wins / len(over) if over else None
        error = None if rate is None else sqrt(rate * (1 - rate) / len(over))
        totals = [total for one in over for player, total in one.totals if player == name]
        mean = sum(totals) / len(totals) if totals else None
        players.append(PlayerSummary(name, how, len(over), wins, rate, error, mean))
    new = sum(one.result == "archived" for one in played)
    return Summary(plan.rules.name, plan.seed, plan.key, len(played), new, players)


# -- the chance to win ------------------------------------------------------------------------------------------------


def to_win(
    position: Position,
    found: list[Option],
    samples: int,
    seed: int,
    progress: Callable[[int], object] = lambda count: None,
) -> list[Option]:
    """Return moves with the estimated chance to win the game after each, and the best by that.

    Everybody plays on by the best policy for points; equal samples have equal dice, so that moves are comparable.
    """
    turn = position.turn
    assert turn is not None
    players = [BEST] * len(position.seats)
    rated = []
    for option in found:
        after = play(position, _event(position, turn, option)) if option.move != "roll" else None
        wins = 0.0
        for number in range(samples):
            rng = Random(f"tenklog advice {seed} {number}")  # noqa: S311
            at = after
            if at is None:
                dice = fair(rng, turn.dice_left)
                at = play(position, events.Roll(1, player=position.seats[turn.seat].player, dice=dice))
            end = play_out(at, players, rng)
            wins += (turn.seat in end.winners) / max(1, len(end.winners))
            progress(1)
        rate = wins / samples
        rated.append(structs.replace(option, win=rate, error=sqrt(rate * (1 - rate) / samples)))
    best = max(rated, key=lambda one: (one.win or 0.0, one.value), default=None)
    rated = [structs.replace(one, best=one is best) for one in rated]
    return sorted(rated, key=lambda one: (not one.best, -(one.win or 0.0), -one.value))


def _event(position: Position, turn: Turn, option: Option) -> events.Event:
    player = position.seats[turn.seat].player
    if option.move == "steal":
        return events.Steal(1, player=player)
    if option.move == "bank":
        return events.Bank(1, player=player, points=turn.points)
    dice = option.dice or ()
    return events.Keep(1, player=player, dice=dice, aside=position.table.aside(dice))
