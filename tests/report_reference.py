"""Every report a second time, in plain Python: worked out from folded games, and from what the columns say they mean.

Nothing here knows the archive, its tables or its SQL. A turn counts when it ended with a number; one that its player's
leaving dropped does not. Of its rolls each was thrown nevertheless.

    rows("leaderboard", [facts(log) for log in logs], Filters())    # the rows that the report should give
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import product
from math import erfc, exp, pi, sqrt
from statistics import NormalDist, fmean, median
from typing import Any, NamedTuple

from tenklog import events
from tenklog.game import retold
from tenklog.projections import standings
from tenklog.reading import Log
from tenklog.replayer import ReplayedTurn, replay
from tenklog.replays import Asked
from tenklog.rules import parse_changes
from tenklog.scoring import Table
from tenklog.state import Ended, Position, Turn, legal
from tenklog.stats import Filters

Row = tuple[Any, ...]  # cells are str, int, float, datetime or None


class Sat(NamedTuple):
    """A seat at the end of a game; `won` is None without a result."""

    seat: int
    player: str
    place: int
    total: int
    turns: int
    busts: int
    won: bool | None


class Took(NamedTuple):
    """A turn that ended, and how often all dice were set aside in it."""

    player: str
    seat: int
    ended: Ended
    hot: int

    @property
    def posted(self) -> int:
        return self.ended.posted

    @property
    def dice(self) -> bool:
        return self.ended.turn.with_dice

    @property
    def bust(self) -> bool:
        return self.ended.outcome in ("bust", "wiped-out")


class Threw(NamedTuple):
    """A roll, whether it lost the turn, and how likely that was."""

    player: str
    dice: tuple[int, ...]
    by_hand: bool
    lost: bool
    chance: float


class Decided(NamedTuple):
    """A choice between banking and rolling on."""

    player: str
    dice_left: int
    points: int
    banked: bool


class Behind(NamedTuple):
    """A seat that was behind when its first last (or extra) turn came."""

    player: str
    points: int
    won: bool


class Became(NamedTuple):
    """What a replay under other rules makes of a game; `same_winner` is None unless both are finished."""

    asked: tuple[str, str | None, str, str]  # rules, changes, settle, and what became of recorded rule changes
    status: str
    same_winner: bool | None
    rounds: int
    same: int
    rescored: int
    settled: int
    never_happened: int
    guesses: int
    turns: list[ReplayedTurn]


class Facts(NamedTuple):
    """What a folded game says; times are naive UTC."""

    game: str
    rules: str
    origin: str
    begun: datetime | None
    minutes: float | None
    finished: bool
    rounds: int
    seats: list[Sat]
    turns: list[Took]
    throws: list[Threw]
    decisions: list[Decided]
    behind: list[Behind]
    replays: list[Became]


# -- chances ----------------------------------------------------------------------------------------------------------

# How many of the throws of so many dice show each set.
THROWS = {n: Counter(tuple(sorted(throw)) for throw in product(range(1, 7), repeat=n)) for n in range(1, 7)}
_known: dict[tuple[Table, int, bool, tuple[int, ...], int], float] = {}


def chance(position: Position, turn: Turn) -> float:
    """Return the chance that the next throw of a turn loses it: nothing to keep, or a wipeout."""
    rules, table, count = position.rules, position.table, turn.dice_left
    # Kept dice may be added to until all dice are thrown again.
    kept, worth = (turn.kept, turn.worth) if rules.build_on_kept and count < rules.dice else ((), 0)
    counts_blank = count == rules.dice and rules.blank_throw > 0
    once_more = count == 1 and turn.tries < rules.last_die_rolls - 1
    key = (table, count, counts_blank or once_more, kept, worth)
    if key not in _known:
        lost = 0
        for dice, ways in THROWS[count].items():
            verdict = table.look(dice)[1]
            if verdict == "wipeout":
                lost += ways
            elif verdict != "win" and not counts_blank and not once_more:
                lost += 0 if table.keeps(dice, kept, worth) else ways
        _known[key] = lost / 6**count
    return _known[key]


def p_value(chi_square: float) -> float:
    """Return the upper tail of chi-square with 5 degrees of freedom."""
    return erfc(sqrt(chi_square / 2)) + sqrt(2 * chi_square / pi) * exp(-chi_square / 2) * (1 + chi_square / 3)


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected after Holm."""
    corrected, highest = [0.0] * len(p), 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        highest = max(highest, (len(p) - rank) * p[place])
        corrected[place] = min(1.0, highest)
    return corrected


def wilson(k: int, n: int) -> tuple[float | None, float | None]:
    """Return Wilson's 95% interval of k in n."""
    if n == 0:
        return None, None
    z, p = NormalDist().inv_cdf(0.975), k / n
    middle = p + z * z / (2 * n)
    margin = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (middle - margin) / (1 + z * z / n)), min(1.0, (middle + margin) / (1 + z * z / n))


# -- facts of a game --------------------------------------------------------------------------------------------------


def moment(text: str) -> datetime:
    """Read the time of an event."""
    return datetime.fromisoformat(text).replace(tzinfo=None)


def became(log: Log, asked: Asked) -> Became:
    """Replay a game by itself."""
    position = log.game.position
    changes = parse_changes(asked.typed, position.pending or position.rules)
    found = replay(
        log.game, log.events, asked.rules, settle=asked.settle, keep_rule_changes=asked.keep_rule_changes,
        changes=changes, of=log.fingerprint,
    )  # fmt: skip
    here = found.game.position
    both = position.status == here.status == "finished"
    winners = {found.seats[seat] for seat in position.winners}
    turns = found.replay.turns
    return Became(
        (asked.name, " ".join(asked.changes) or None, asked.settle, "kept" if asked.keep_rule_changes else "replaced"),
        found.replay.status, winners == {*here.winners} if both else None, here.round,
        turns.same, turns.rescored, turns.settled, turns.never_happened, found.replay.guesses, found.turns,
    )  # fmt: skip


def facts(log: Log, replayed: Iterable[Asked] = ()) -> Facts:
    """Work out what reports need to know of a game, and of its replays."""
    position, start = log.game.position, log.start
    finished = position.status == "finished"
    names = [seat.player for seat in position.seats]
    times = [moment(event.time) for event in log.events if event.time is not None]
    begun = None if start.time is None else moment(start.time)
    seats = [
        Sat(
            one.seat,
            one.player,
            one.place,
            one.total,
            one.turns,
            one.busts,
            one.seat - 1 in position.winners if finished else None,
        )
        for one in standings(position)
    ]
    steps = retold(log.game)[1]
    throws: list[Threw] = []
    decisions: list[Decided] = []
    hot, hots = 0, []
    behind: list[Behind] = []
    had_last: set[int] = set()
    came = steps[0][1]  # how the game stood when the turn in progress came
    for event, before, after in steps:
        turn = before.turn
        assert turn is not None
        if isinstance(event, events.Roll):
            lost = after.turn is not None and after.turn.phase == "busted"
            by_hand = event.thrown_by is None
            throws.append(Threw(names[turn.seat], event.dice, by_hand, lost, chance(before, turn)))
        if isinstance(event, events.Keep):
            hot += len(event.aside or event.dice) == turn.dice_left
        # What a replay settled nobody decided.
        settled = isinstance(event, events.Bank) and event.settled
        asked = turn.rolls > 0 and {"roll", "bank"} <= set(legal(before))
        if asked and isinstance(event, events.Roll | events.Bank) and not settled:
            banked = isinstance(event, events.Bank)
            decisions.append(Decided(names[turn.seat], turn.dice_left, turn.points, banked))
        if after.ended is not before.ended:
            assert after.ended is not None
            hots.append(hot)
            hot = 0
            if after.ended.last and after.ended.number and turn.seat not in had_last:
                had_last.add(turn.seat)
                lead = max((seat.total for seat in came.seats if not seat.left), default=0)
                missing = lead - came.seats[turn.seat].total
                if finished and missing > 0:
                    behind.append(Behind(names[turn.seat], missing, turn.seat in position.winners))
        at_turn = isinstance(event, events.Leave) and event.player == before.seats[turn.seat].player
        if after.ended is not before.ended or at_turn:
            came = after
    turns = [
        Took(names[ended.turn.seat], ended.turn.seat + 1, ended, count)
        for ended, count in zip(position.turns(), hots, strict=True)
        if ended.number
    ]
    return Facts(
        game=start.game,
        rules=start.rules.name,
        origin=start.origin,
        begun=begun,
        minutes=None if begun is None else (times[-1] - begun).total_seconds() / 60,
        finished=finished,
        rounds=position.round,
        seats=sorted(seats),
        turns=turns,
        throws=throws,
        decisions=decisions,
        behind=behind,
        replays=[became(log, one) for one in replayed],
    )


# -- filters ----------------------------------------------------------------------------------------------------------


class Chosen:
    """The games that count, oldest first, and who has rows of their own."""

    def __init__(self, known: Iterable[Facts], filters: Filters) -> None:
        games = [
            one
            for one in known
            if one.origin in filters.origins
            and (not filters.rules or one.rules in filters.rules)
            and (filters.since is None or (one.begun is not None and one.begun >= _utc(filters.since)))
            and (filters.until is None or (one.begun is not None and one.begun < _utc(filters.until)))
        ]
        if filters.last is not None:
            # Games of which nobody knows when they began are the oldest.
            if filters.players:
                games = [one for one in games if any(sat.player in filters.players for sat in one.seats)]
            games.sort(key=lambda one: (one.begun is not None, one.begun or datetime.min, one.game))
            games = games[len(games) - filters.last :] if filters.last < len(games) else games
        # Of those with a time the earliest comes first, those without follow.
        self.games = sorted(games, key=lambda one: (one.begun is None, one.begun or datetime.min, one.game))
        finished = Counter(sat.player for one in games if one.finished for sat in one.seats)
        everybody = {sat.player for one in games for sat in one.seats}
        self.players = sorted(
            player
            for player in everybody
            if (not filters.players or player in filters.players) and finished[player] >= filters.min_games
        )

    @property
    def at_table(self) -> list[Facts]:
        """Return the games with one of the players at the table."""
        return [one for one in self.games if any(sat.player in self.players for sat in one.seats)]

    def seats(self, player: str) -> list[tuple[Facts, Sat]]:
        return [(one, sat) for one in self.games for sat in one.seats if sat.player == player]

    def turns(self, player: str) -> list[Took]:
        return [took for one in self.games for took in one.turns if took.player == player]

    def all_turns(self) -> list[Took]:
        return [took for player in self.players for took in self.turns(player)]

    def throws(self) -> list[Threw]:
        return [threw for one in self.games for threw in one.throws if threw.player in self.players]


def _utc(when: datetime) -> datetime:
    offset = when.utcoffset()
    return (when if offset is None else when - offset).replace(tzinfo=None)


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None


def _share(k: int, n: int) -> float | None:
    return k / n if n else None


def _down(value: float | None) -> float:
    """Sort descending, None last."""
    return float("inf") if value is None else -value


def _up(value: float | None) -> float:
    """Sort ascending, None last."""
    return float("inf") if value is None else value


def _bust_rate(turns: Sequence[Took]) -> float | None:
    return _share(sum(took.bust for took in turns), len(turns))


def _hot_rate(turns: Sequence[Took]) -> float | None:
    dice = [took for took in turns if took.dice]
    return _share(sum(took.hot > 0 for took in dice), len(dice))


def _longest(signs: Iterable[bool]) -> int:
    """Return the length of the longest run of true."""
    longest = run = 0
    for sign in signs:
        run = run + 1 if sign else 0
        longest = max(longest, run)
    return longest


def _turns_by_seat(turns: Iterable[Took]) -> list[list[Took]]:
    """Return the turns of one game by the seat that took them."""
    found: dict[int, list[Took]] = defaultdict(list)
    for took in turns:
        found[took.seat].append(took)
    return list(found.values())


# -- the reports ------------------------------------------------------------------------------------------------------


def bust_rate(chosen: Chosen) -> list[Row]:
    rows: list[Row] = []
    for dice in range(1, 7):
        throws = [threw for threw in chosen.throws() if len(threw.dice) == dice]
        busts = sum(threw.lost for threw in throws)
        if throws:
            odds = _mean(threw.chance for threw in throws)
            rows.append((dice, len(throws), busts, busts / len(throws), *wilson(busts, len(throws)), odds))
    return rows


def comebacks(chosen: Chosen) -> list[Row]:
    rows = []
    for player in chosen.players:
        chances = [one for game in chosen.games for one in game.behind if one.player == player]
        won = [one.points for one in chances if one.won]
        if chances:
            rate = len(won) / len(chances)
            behind = _mean(one.points for one in chances)
            rows.append((player, len(chances), len(won), rate, max(won, default=None), behind))
    return sorted(rows, key=lambda row: (-row[2], -row[3], row[0]))


def decisions(chosen: Chosen) -> list[Row]:
    bands: dict[tuple[int, int], list[bool]] = defaultdict(list)
    for game in chosen.games:
        for one in game.decisions:
            if one.player in chosen.players:
                bands[one.dice_left, min(6, one.points // 250)].append(one.banked)
    rows: list[Row] = []
    for (dice, band), banked in sorted(bands.items()):
        count, yes = len(banked), sum(banked)
        below = None if band == 6 else band * 250 + 250
        rows.append((dice, band * 250, below, count, yes, count - yes, yes / count))
    return rows


def dice(chosen: Chosen) -> list[Row]:
    rows: list[tuple[str, int, list[int], float]] = []
    for player in chosen.players:
        thrown = [face for threw in chosen.throws() if threw.by_hand and threw.player == player for face in threw.dice]
        faces = [thrown.count(face) for face in range(1, 7)]
        if thrown:
            expected = len(thrown) / 6
            rows.append((player, len(thrown), faces, sum((seen - expected) ** 2 / expected for seen in faces)))
    corrected = holm([p_value(row[3]) for row in rows])
    return [
        (player, thrown, *faces, chi_square, p_value(chi_square), p)
        for (player, thrown, faces, chi_square), p in zip(rows, corrected, strict=True)
    ]


def head_to_head(chosen: Chosen) -> list[Row]:
    rows = []
    for player in chosen.players:
        met: dict[str, list[tuple[Sat, Sat]]] = defaultdict(list)
        for game, mine in chosen.seats(player):
            for theirs in game.seats:
                if game.finished and theirs.seat != mine.seat:
                    met[theirs.player].append((mine, theirs))
        for opponent, pairs in met.items():
            ahead = sum(mine.place < theirs.place for mine, theirs in pairs)
            behind = sum(mine.place > theirs.place for mine, theirs in pairs)
            rows.append((
                player, opponent, len(pairs), ahead, behind, len(pairs) - ahead - behind, ahead / len(pairs),
                sum(mine.won is True for mine, _ in pairs), sum(theirs.won is True for _, theirs in pairs),
                _mean(mine.total - theirs.total for mine, theirs in pairs),
            ))  # fmt: skip
    return sorted(rows, key=lambda row: (row[0], -row[2], row[1]))


def hot_dice(chosen: Chosen) -> list[Row]:
    rows = []
    for player in chosen.players:
        turns = [took for took in chosen.turns(player) if took.dice]
        hot = [took for took in turns if took.hot]
        if turns:
            rows.append((
                player, len(turns), len(hot), len(hot) / len(turns), sum(took.hot for took in hot),
                max(took.hot for took in turns), _mean(took.posted for took in hot), _bust_rate(hot),
            ))  # fmt: skip
    return sorted(rows, key=lambda row: (-row[3], row[0]))


def leaderboard(chosen: Chosen) -> list[Row]:
    rows = []
    for player in chosen.players:
        seats, turns = chosen.seats(player), chosen.turns(player)
        finished = sum(game.finished for game, _ in seats)
        won = [game for game, sat in seats if sat.won]
        shared = sum(sum(sat.won is True for sat in game.seats) > 1 for game in won)
        rate = _share(len(won), finished)
        rows.append((
            player, finished, len(won), shared, rate, *wilson(len(won), finished), len(seats) - finished, len(turns),
            _mean(took.posted for took in turns), _bust_rate(turns), max((took.posted for took in turns), default=None),
        ))  # fmt: skip
    return sorted(rows, key=lambda row: (_down(row[4]), -row[2], row[0]))


def length(chosen: Chosen) -> list[Row]:
    groups: dict[tuple[str, int], list[Facts]] = defaultdict(list)
    for game in chosen.at_table:
        if game.finished:
            groups[game.rules, len(game.seats)].append(game)
    rows: list[Row] = []
    for (rules, players), games in sorted(groups.items()):
        rounds = [game.rounds for game in games]
        rows.append((
            rules, players, len(games), fmean(rounds), float(median(rounds)), min(rounds), max(rounds),
            _mean(len(game.turns) for game in games), _mean(game.minutes for game in games if game.minutes is not None),
        ))  # fmt: skip
    return rows


def opening(chosen: Chosen) -> list[Row]:
    rows = []
    for player in chosen.players:
        games = 0
        opened: list[tuple[int, int]] = []  # which turn it was, and its points
        for game in chosen.games:
            turns = [took.posted for took in game.turns if took.player == player]
            games += bool(turns)
            opened += [(number, posted) for number, posted in enumerate(turns, 1) if posted][:1]
        if games:
            rows.append((
                player, games, len(opened), len(opened) / games, sum(number == 1 for number, _ in opened) / games,
                _mean(number for number, _ in opened), max((number for number, _ in opened), default=None),
                _mean(posted for _, posted in opened),
            ))  # fmt: skip
    return sorted(rows, key=lambda row: (_up(row[5]), row[0]))


def points(chosen: Chosen) -> list[Row]:
    edges = [0, 1, *range(100, 2100, 100)]
    turns = chosen.all_turns()
    rows: list[Row] = []
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        count = sum(took.posted >= low and (high is None or took.posted < high) for took in turns)
        if count:
            rows.append((low, high, count, count / len(turns)))
    return rows


def profile(chosen: Chosen) -> list[Row]:
    rows = []
    for player in chosen.players:
        seats, turns = chosen.seats(player), chosen.turns(player)
        finished = [sat for game, sat in seats if game.finished]
        wins = sum(sat.won is True for sat in finished)
        begun = [game.begun for game, _ in seats if game.begun is not None]
        with_dice = [took for took in turns if took.dice]
        rows.append((
            player, len(seats), len(finished), wins, _share(wins, len(finished)),
            _mean(sat.place for sat in finished), _mean(sat.total for sat in finished), len(turns),
            _mean(took.posted for took in turns), _mean(took.posted for took in turns if took.posted),
            _bust_rate(turns), _mean(took.ended.turn.points for took in with_dice if took.bust),
            _mean(took.ended.turn.rolls for took in with_dice), _hot_rate(turns),
            max((took.posted for took in turns), default=None), sum(took.ended.turn.stolen for took in turns),
            sum(took.ended.turn.challenge is not None for took in turns),
            min(begun, default=None), max(begun, default=None),
        ))  # fmt: skip
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def records(chosen: Chosen) -> list[Row]:
    """Return the records; of equals the earliest game, in it the earliest turn, and of seats the first by name."""
    found: dict[str, list[tuple[int, str, Facts]]] = defaultdict(list)
    for game in chosen.games:
        running: Counter[int] = Counter()
        for took in game.turns:
            running[took.seat] = running[took.seat] + 1 if took.bust else 0
            turn = took.ended.turn
            if took.player not in chosen.players:
                continue
            for name, value in (
                ("most points in a turn", took.posted),
                ("most points lost in a bust", turn.points if took.bust and took.dice else 0),
                ("most rolls in a turn", turn.rolls),
                ("most hot dice in a turn", took.hot),
                ("most busts in a row", running[took.seat]),
            ):
                if value:
                    found[name].append((value, took.player, game))
        for sat in sorted(game.seats, key=lambda sat: sat.player):
            if sat.player not in chosen.players:
                continue
            if game.finished:
                found["highest total"].append((sat.total, sat.player, game))
                found["lowest total"].append((sat.total, sat.player, game))
            if sat.won:
                found["fewest turns to win"].append((sat.turns, sat.player, game))
            if sat.busts:
                found["most busts in a game"].append((sat.busts, sat.player, game))
    rows: list[Row] = []
    for name, best in (
        ("most points in a turn", max),
        ("most points lost in a bust", max),
        ("most rolls in a turn", max),
        ("most hot dice in a turn", max),
        ("highest total", max),
        ("lowest total", min),
        ("fewest turns to win", min),
        ("most busts in a game", max),
        ("most busts in a row", max),
    ):
        if name in found:
            value, player, game = best(found[name], key=lambda one: one[0])
            rows.append((name, value, player, game.game, game.rules, game.begun))
    return rows


def divergences(chosen: Chosen) -> list[Row]:
    kinds: dict[tuple[str, str | None, str, str], dict[tuple[str, str | None], list[tuple[int, int | None]]]] = {}
    for game in chosen.games:
        numbered = {took.ended.number: took for took in game.turns}
        for one in game.replays:
            for turn in one.turns:
                took = numbered[turn.turn]
                if took.player in chosen.players:
                    of_asked = kinds.setdefault(one.asked, {}).setdefault((turn.became, turn.kind), [])
                    of_asked.append((took.ended.change, turn.change))
    rows: list[Row] = []
    for asked, found in kinds.items():
        count = sum(map(len, found.values()))
        for (became, kind), changes in found.items():
            here = _mean(after for _, after in changes if after is not None)
            share = _share(len(changes), count)
            rows.append((*asked, became, kind, len(changes), share, _mean(before for before, _ in changes), here))
    return sorted(
        rows, key=lambda row: (row[0], row[1] is not None, row[1] or "", *row[2:4], -row[6], row[4], row[5] or "")
    )


def replays(chosen: Chosen) -> list[Row]:
    found: dict[tuple[str, str | None, str, str], list[Became]] = defaultdict(list)
    for game in chosen.at_table:
        for one in game.replays:
            found[one.asked].append(one)
    rows: list[Row] = []
    for asked, games in found.items():
        finished = [one for one in games if one.status == "finished"]
        decided = [one.same_winner for one in games if one.same_winner is not None]
        numbers = zip(*(one[4:9] for one in games), strict=True)
        same, rescored, settled, never_happened, guesses = (sum(map(int, one)) for one in numbers)
        turns = same + rescored + settled + never_happened
        shares = [_share(one, turns) for one in (same, rescored, settled, guesses, never_happened)]
        unfinished = sum(one.status == "unfinished" for one in games)
        rows.append((
            *asked, len(games), len(finished), unfinished, len(decided), _share(sum(decided), len(decided)),
            _mean(one.rounds for one in finished), turns, *shares,
        ))  # fmt: skip
    return sorted(rows, key=lambda row: (row[0], row[1] is not None, row[1] or "", *row[2:4]))


def rulesets(chosen: Chosen) -> list[Row]:
    rows = []
    for rules in sorted({game.rules for game in chosen.at_table}):
        games = [game for game in chosen.at_table if game.rules == rules]
        finished = [game for game in games if game.finished]
        turns = [took for game in games for took in game.turns if took.player in chosen.players]
        shared = sum(sum(sat.won is True for sat in game.seats) > 1 for game in finished)
        winners = [sat.total for game in finished for sat in game.seats if sat.won and sat.player in chosen.players]
        rows.append((
            rules, len(games), len(finished), shared, _mean(game.rounds for game in finished), _mean(winners),
            len(turns), _mean(took.posted for took in turns), _bust_rate(turns), _hot_rate(turns),
            _share(sum(took.posted == 0 for took in turns), len(turns)),
        ))  # fmt: skip
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def seats(chosen: Chosen) -> list[Row]:
    sat_there: dict[int, list[tuple[int, Sat]]] = defaultdict(list)
    for game in chosen.games:
        for sat in game.seats:
            if game.finished and sat.player in chosen.players:
                sat_there[sat.seat].append((len(game.seats), sat))
    rows: list[Row] = []
    for seat, found in sorted(sat_there.items()):
        wins = sum(sat.won is True for _, sat in found)
        rows.append((
            seat, len(found), wins, wins / len(found), *wilson(wins, len(found)),
            _mean(1 / players for players, _ in found), _mean(sat.total for _, sat in found),
        ))  # fmt: skip
    return rows


def streaks(chosen: Chosen) -> list[Row]:
    rows = []
    for player in chosen.players:
        results = [sat.won is True for game, sat in chosen.seats(player) if game.finished]
        own = [[took for took in game.turns if took.player == player] for game in chosen.games]
        by_seat = [turns for game in own for turns in _turns_by_seat(game)]
        if not results and not by_seat:
            continue
        won = lost = now = None
        if results:
            won, lost = _longest(results), _longest(not one for one in results)
            run = next((n for n, one in enumerate(reversed(results)) if one != results[-1]), len(results))
            now = f"{run} {'won' if results[-1] else 'lost'}"
        scoring = max((_longest(took.posted > 0 for took in turns) for turns in by_seat), default=None)
        busts = max((_longest(took.bust for took in turns) for turns in by_seat), default=None)
        rows.append((player, len(results), won, lost, now, scoring, busts))
    return sorted(rows, key=lambda row: (_down(row[2]), row[0]))


REPORTS: dict[str, Callable[[Chosen], Sequence[Row]]] = {
    "bust-rate": bust_rate,
    "comebacks": comebacks,
    "decisions": decisions,
    "dice": dice,
    "divergences": divergences,
    "head-to-head": head_to_head,
    "hot-dice": hot_dice,
    "leaderboard": leaderboard,
    "length": length,
    "opening": opening,
    "points": points,
    "profile": profile,
    "records": records,
    "replays": replays,
    "rulesets": rulesets,
    "seats": seats,
    "streaks": streaks,
}


def rows(report: str, known: Iterable[Facts], filters: Filters) -> list[Row]:
    """Return the rows that a report should give about some games."""
    return list(REPORTS[report](Chosen(known, filters)))
