"""Compare: this module sets replays of one or many games under one or many rulesets side by side, and sums them up."""

from itertools import groupby

from msgspec import Struct

from tenklog.game import Game
from tenklog.narrate import joined
from tenklog.projections import Standing, names, standings
from tenklog.replayer import Divergence, Replay, Replayed, TurnCounts
from tenklog.state import Status


class Recorded(Struct, frozen=True):
    """How a game ended, or stands, as it was recorded."""

    rules: str
    status: Status
    winners: list[str]
    standings: list[Standing]


class GameReplays(Struct, frozen=True):
    """One game with its replays, in the order in which the rulesets were asked for."""

    game: str
    recorded: Recorded
    replays: list[Replay]


class Summary(Struct, frozen=True):
    """One ruleset over all games: how often the same or others win; undecided is where not both are finished."""

    rules: str
    games: int
    same_winner: int
    other_winner: int
    undecided: int
    turns: TurnCounts


class Comparison(Struct, frozen=True):
    """All games, and a row for each ruleset in the order asked."""

    games: list[GameReplays]
    summary: list[Summary]


def recorded(game: Game) -> Recorded:
    """Return how a recorded game ended or stands."""
    position = game.position
    return Recorded(game.start.rules.name, position.status, names(position, position.winners), standings(position))


def compare(games: list[tuple[Game, list[Replayed]]]) -> Comparison:
    """Put games and their replays into one document; every game has its replays in the same order of rulesets."""
    rows = [GameReplays(game.start.game, recorded(game), [one.replay for one in replays]) for game, replays in games]
    columns = len(games[0][1]) if games else 0
    summary = [_summary([(game, replays[column]) for game, replays in games]) for column in range(columns)]
    return Comparison(rows, summary)


def _summary(pairs: list[tuple[Game, Replayed]]) -> Summary:
    same = other = 0
    for game, replayed in pairs:
        if game.position.status == replayed.replay.status == "finished":
            # Seats, not names: a rename that never happened makes nobody another winner.
            winners = {replayed.seats.get(seat) for seat in game.position.winners}
            same += winners == {*replayed.game.position.winners}
            other += winners != {*replayed.game.position.winners}
    counts = [replayed.replay.turns for _, replayed in pairs]
    return Summary(
        rules=pairs[0][1].replay.rules,
        games=len(pairs),
        same_winner=same,
        other_winner=other,
        undecided=len(pairs) - same - other,
        turns=TurnCounts(
            same=sum(one.same for one in counts),
            rescored=sum(one.rescored for one in counts),
            settled=sum(one.settled for one in counts),
            never_happened=sum(one.never_happened for one in counts),
        ),
    )


def shortened(found: list[Divergence]) -> list[tuple[Divergence, list[Divergence]]]:
    """Return divergences, of a long row of turns that never happened only the first, each with those left out."""
    shown: list[tuple[Divergence, list[Divergence]]] = []
    for kind, group in groupby(found, key=lambda one: one.kind):
        row = list(group)
        if kind == "never-happened" and len(row) > 3:
            shown.append((row[0], row[1:]))
        else:
            shown += [(one, []) for one in row]
    return shown


def headline(found: Replay, hint: str = " (see --settle sample)") -> str:
    """Name the winner of a replay, always with how many of its turns are guesses, and say when that decides nothing.

    `hint` says then where to look further.
    """
    counts = found.turns
    count = counts.same + counts.rescored + counts.settled + counts.never_happened
    totals = {one.player: one.total for one in found.standings}
    if found.status == "stopped":
        return f"{found.rules}: stopped at the first guess, event {found.divergences[-1].seq}."
    if found.chances:
        return f"{found.rules}: {_chances(found, count)}."
    who = found.winners or found.leaders
    if found.status == "abandoned":
        outcome = "abandoned"
    elif found.status == "unfinished":
        outcome = f"unfinished, {joined(who)} {'leads' if len(who) == 1 else 'lead'} with {totals[who[0]]}"
    else:
        outcome = f"{joined(who)} {'wins' if len(who) == 1 else 'win'} with {totals[who[0]]}"
    if not found.guesses:
        return f"{found.rules}: {outcome}; no turn is a guess."
    guesses = f"{found.guesses} of {count} turns {'is a guess' if found.guesses == 1 else 'are guesses'}"
    if found.guesses * 10 > count:
        return f"{found.rules}: {outcome}; {guesses}: not decidable from these dice{hint}."
    return f"{found.rules}: {outcome}; {guesses}."


def _chances(found: Replay, count: int) -> str:
    """Say how likely each player wins, when what these dice don't tell is played on at random."""
    ranked = sorted(found.chances, key=lambda one: (-one.chance, one.seat))
    said = joined([f"{one.player} wins {one.chance:.1%} (\u00b1{one.error:.1%})" for one in ranked])
    guesses = f"from {found.guesses} of {count} turns on" if found.guesses else "from the end of the log on"
    return f"{said} of {found.samples} games with other dice {guesses}"
