"""Lockstep: this module plays many simulated games at once, a throw of each of them a step, as `simulate` plays one.

It states no rule and no strategy. What a throw brings is what `chances` found on the fold, what the end of a turn
brings stands in `transitions.Ends`, and what a strategy does is asked of itself, once for each spot: who is at turn,
how that stands in the game, where the turn stands and what it holds. Games in which something else happens, such as an
instant win, a wipeout or a level end, are left to be played one by one. Needs numpy.
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from tenklog import events, state
from tenklog.chances import Chances, Choice, Node, losing_throws
from tenklog.dice import MOST, Dice
from tenklog.rows import is_free
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, Seat, opening, with_turn
from tenklog.strategies import MOST_TURNS, Strategy, all_throws, keep_most, next_event
from tenklog.tables import SETS
from tenklog.transitions import BUST, FIRST_BUST, POSTS, ZERO, Ends, Ints
from tenklog.turns import play

MOST_NODES = 64  # of a ruleset's turns; with more of them games are played one by one
MOST_POINTS, MOST_TOTAL = 1 << 25, 1 << 30  # in a game that is not left to be played by itself
BLOCK = 64  # random numbers that are drawn at once for each game
LOST, OTHER = -1, -2  # a throw that loses the turn by a bust, and one that brings something else but choices

# All throws of 1 to 6 dice, by number of dice and in the order of `strategies.fair`: faces (0 for none), and sets.
_ALL = [throw for count in range(1, MOST + 1) for throw in all_throws(count)]
_DICE = list(SETS)
SHOWN = np.array([SETS[tuple(sorted(throw))] for throw in _ALL], np.int16)
OFFSET = np.array([sum(6**one for one in range(1, count)) for count in range(MOST + 1)])
SIZE = 6.0 ** np.arange(MOST + 1)


def faces(throws: Iterable[Dice]) -> Ints:
    """Return dice as rows of faces, 0 for none."""
    return np.array([(*throw, *(0,) * (MOST - len(throw))) for throw in throws], np.uint8)


FACES = faces(_ALL)


class Board:
    """Where turns can stand under one ruleset, and what throws bring there: nodes and choices by number.

    For each node the dice that it throws, whether it must, and its chance to lose; for each node and set of dice the
    first of its choices (or LOST, or OTHER), how many, and the most points of one; for each choice the points, the node
    after it and the set of dice kept (-1 for none).
    """

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.nodes = [Node(rules.dice)]
        self.choices: list[Choice] = []
        chances = Chances.of(Table.of(rules))
        at = opening(("",), rules)
        first, many, most = [], [], []
        for node in self.nodes:
            begin = len(self.choices)
            options, counts, highest = np.full(len(SETS), OTHER), *np.zeros((2, len(SETS)), np.int64)
            found = chances.throw(node).choices if len(self.nodes) <= MOST_NODES else {}
            for dice, number in SETS.items():
                if dice in found:
                    options[number], counts[number] = len(self.choices), len(found[dice])
                    highest[number] = max(one.points for one in found[dice])
                    self.choices += found[dice]
                elif len(dice) == node.dice_left and self.few and _busts(at, node, dice):
                    options[number] = LOST
            self.nodes += dict.fromkeys(one.after for one in self.choices[begin:] if one.after not in self.nodes)
            first.append(options)
            many.append(counts)
            most.append(highest)
        numbers = {node: number for number, node in enumerate(self.nodes)}
        self.first, self.many, self.most = np.array(first), np.array(many), np.array(most)
        self.count = np.array([node.dice_left for node in self.nodes])
        self.must_throw = np.array([node.must_throw for node in self.nodes])
        self.bust_chance = np.array([losing_throws(at, node.turn(0, 0)) / 6**node.dice_left for node in self.nodes])
        self.points = np.array([one.points for one in self.choices] or [0])
        self.after = np.array([numbers[one.after] for one in self.choices] or [0])
        self.kept = np.array([SETS[one.dice] if one.dice else -1 for one in self.choices] or [-1])

    @property
    def few(self) -> bool:
        """Tell whether all nodes are known."""
        return len(self.nodes) <= MOST_NODES

    @property
    def small(self) -> bool:
        """Tell whether all nodes are known, and points are such that questions about them have room in a number."""
        return self.few and bool(self.points.max() < MOST_POINTS)


def _busts(at: Position, node: Node, dice: tuple[int, ...]) -> bool:
    """Tell whether a throw loses the turn by a mere bust."""
    rolled = play(with_turn(at, replace(node, must_throw=True).turn(0, 0)), events.Roll(1, player="", dice=dice))
    if rolled.turn is None:
        return False
    ended = play(rolled, events.Bust(1, player="")).ended
    return ended is not None and ended.outcome == "bust"


# -- what strategies do -----------------------------------------------------------------------------------------------

# How a turn stands in the game: turns follow the one that reaches the target; it may end the game at once; it is one
# of the last turns, or the very last.
FOLLOWED, AT_ONCE, LATE, LAST = range(4)
BANKS, FREE = 1, 2  # a bank is made; both a bank and a throw were legal


class Asked:
    """Answers to questions that are whole numbers, each asked once."""

    def __init__(self, ask: Callable[[int], int]) -> None:
        self._ask = ask
        self._questions, self._answers = np.full(1, -1), np.zeros(1, np.int64)

    def __call__(self, questions: Ints) -> Ints:
        """Return the answers to some questions."""
        at = np.searchsorted(self._questions, questions)
        at[at == len(self._questions)] = 0
        unknown = self._questions[at] != questions
        if unknown.any():
            fresh = np.unique(questions[unknown])
            where = np.searchsorted(self._questions, fresh)
            self._answers = np.insert(self._answers, where, [self._ask(one) for one in fresh.tolist()])
            self._questions = np.insert(self._questions, where, fresh)
            at = np.searchsorted(self._questions, questions)
        found: Ints = self._answers[at]
        return found


class Spots:
    """What strategies do, as they say themselves on a position that looks to them as the game does."""

    def __init__(self, board: Board, ends: Ends, strategies: Sequence[Strategy]) -> None:
        self.board, self.ends, self.strategies = board, ends, strategies
        self._positions: list[tuple[Strategy, Position]] = []
        self._rng = Random(0)  # noqa: S311  (none of these strategies draws numbers)
        self._contexts = Asked(self._context)
        known = [one.name for one in strategies]
        self._same = np.array([known.index(name) for name in known])  # players of one strategy do the same
        self.keeps = Asked(self._keep)
        self.stops = Asked(self._stop)
        # The keep of a strategy that looks at the dice alone is that of any spot.
        self.blind = np.array([one.keep is keep_most for one in strategies])
        self._looks = np.array([one.looks for one in strategies])
        players, no = np.arange(len(strategies)), np.zeros(len(strategies), np.int64)
        self.plain = self.context(players, no, no + FOLLOWED, no)

    def context(self, player: Ints, state: Ints, standing: Ints, by: Ints) -> Ints:
        """Return the numbers of contexts: a player, the state of the seat, how the turn stands, and by what points."""
        looks = self._looks[player]
        standing, by = np.where(looks, standing, FOLLOWED), np.where(looks, by, 0)
        questions: Ints = (((self._same[player] * 64 + state) * 4 + standing) << 32) + by + (1 << 31)
        return self._contexts(questions)

    def _context(self, question: int) -> int:
        """Make a position for a strategy, the state of its seat, how that stands, and by how many points."""
        question, points = divmod(question, 1 << 32)
        question, standing = divmod(question, 4)
        number, at = divmod(question, 64)
        points -= 1 << 31
        ends = self.ends
        own = replace(ends.states[at], player="own")
        other = replace(ends.states[0], player="other")
        position = opening(("own", "other"), ends.rules)
        if standing == AT_ONCE:
            # Whoever is alone is followed by nobody; else it is the seat at the end of the round.
            seats = (other, replace(own, total=points))[len(self.blind) == 1 :]
            position = replace(position, seats=seats, turn=replace(self._turn(position), seat=len(seats) - 1))
        elif standing == FOLLOWED:
            position = replace(position, seats=(own, other))
        else:
            seats = (replace(own, total=ends.threshold + points), replace(other, total=ends.threshold))
            position = replace(position, seats=seats, due=(0, 1) if standing == LATE else (0,))
        self._positions.append((self.strategies[number], position))
        return len(self._positions) - 1

    @staticmethod
    def _turn(position: Position) -> state.Turn:
        assert position.turn is not None
        return position.turn

    def _at(self, question: int) -> tuple[Strategy, Position, int]:
        """Return who is asked, where the turn stands, and what else is in the question."""
        context, points, node, number = question >> 42, question >> 16 & 0x3FFFFFF, question >> 10 & 63, question & 1023
        asked, position = self._positions[context]
        turn = self.board.nodes[node].turn(self._turn(position).seat, points)
        return asked, with_turn(position, turn), number

    def _keep(self, question: int) -> int:
        """Return the number of the choice, from that of the first one."""
        asked, position, number = self._at(question)
        dice = _DICE[number]
        must = replace(self._turn(position), phase="to-roll")
        player = position.seats[must.seat].player
        rolled = play(with_turn(position, must), events.Roll(1, player=player, dice=dice))
        turn = self._turn(rolled)
        return Chances.of(position.table).choices(turn).index(asked.keep(rolled, turn, self._rng))

    def _stop(self, question: int) -> int:
        asked, position, _ = self._at(question)
        banks = isinstance(next_event(position, asked, self._rng), events.Bank)
        return BANKS * banks + FREE * is_free(position)


def _question(context: Ints, points: Ints, node: Ints, number: Ints | int = 0) -> Ints:
    question: Ints = (context << 42) + (points << 16) + (node << 10) + number
    return question


# -- playing ----------------------------------------------------------------------------------------------------------

Columns = dict[str, Ints]


class Played(Struct, frozen=True):
    """Columns of all rolls and all turns of games, game after game; only of those that were played to their ends.

    By game: whether that is so, and its rounds; by game and seat: the total, the turns, the busts and whether the
    player has opened.
    """

    rolls: Columns
    turns: Columns
    over: Ints
    rounds: Ints
    total: Ints
    count: Ints
    busts: Ints
    opened: Ints

    def position(self, game: int, rules: Ruleset, players: Sequence[str]) -> Position:
        """Return how a game stands at its end, as far as its result goes."""
        of_seats = zip(
            players, *(one[game].tolist() for one in (self.total, self.opened, self.count, self.busts)), strict=True
        )
        seats = tuple(Seat(player, total, opened, turns, busts) for player, total, opened, turns, busts in of_seats)
        at = opening(tuple(players), rules)
        return replace(
            at, seats=seats, turn=None, round=int(self.rounds[game]), winners=(int(self.total[game].argmax()),)
        )  # fmt: skip


class Lockstep:
    """Plays games of one ruleset by the strategies of its players."""

    def __init__(self, board: Board, ends: Ends, strategies: Sequence[Strategy]) -> None:
        self.board, self.ends = board, ends
        self.spots = Spots(self.board, self.ends, strategies)
        self.seats = len(strategies)
        self.last = ends.last_turns(self.seats)[self.seats]  # that follow the first to reach the target, by the seat
        self.opened = np.array([one.opened for one in self.ends.states])

    @staticmethod
    def of(rules: Ruleset, strategies: Sequence[Strategy]) -> "Lockstep | None":
        """Return what plays games under some rules by some strategies; None when they can't be played so at all."""
        if any(one.draws for one in strategies) or not (ends := Ends(rules)).simple:
            return None
        return Lockstep(Board(rules), ends, strategies)

    def play(self, rngs: Sequence[Random], first: Ints) -> Played:
        """Play games, each with its own dice; `first` is the player who sits in the first seat."""
        table = _Table(len(rngs), self.seats, first)
        draws = np.zeros((len(rngs), BLOCK))
        rolls: list[Columns] = []
        turns: list[Columns] = []
        active = np.arange(len(rngs)) if self.board.small else np.zeros(0, np.int64)
        step = 0
        while len(active):
            if step % BLOCK == 0:
                draws[active] = [
                    [draw() for _ in range(BLOCK)] for draw in (rngs[one].random for one in active.tolist())
                ]
            thrown = self.board.count[table.node[active]]
            throw = OFFSET[thrown] + (draws[active, step % BLOCK] * SIZE[thrown]).astype(np.int64)
            active, made = self._throw(table, active, throw)
            rolls.append(made)
            done = active[made["ended"]]
            if len(done):
                turns.append(self._end(table, done, made["lost"][made["ended"]]))
                active = active[~np.isin(active, done[self._pass_on(table, done, turns[-1])], assume_unique=True)]
            step += 1
        over = table.over
        return Played(
            _in_order(rolls, over), _in_order(turns, over), over, table.rounds, table.total, table.count, table.busts,
            self.opened[table.state],
        )  # fmt: skip

    def _throw(self, table: "_Table", at: Ints, throw: Ints) -> tuple[Ints, Columns]:
        """Let the seat at turn throw, keep and decide in some games; return those that go on, and their rolls."""
        board, spots = self.board, self.spots
        shown = SHOWN[throw].astype(np.int64)
        known = (board.first[table.node[at], shown] != OTHER) & (table.points[at] < MOST_POINTS)
        at, throw, shown = at[known], throw[known], shown[known]
        node, before, choice = table.node[at], table.points[at], board.first[table.node[at], shown]
        lost = choice == LOST
        player = table.player(at)
        standing, by = self._standing(table, at)
        many = np.flatnonzero(board.many[node, shown] > 1)
        if len(many):
            most = before[many] + board.most[node[many], shown[many]]
            context = self._context(table, at[many], standing[many], by[many], most)
            blind = spots.blind[player[many]]
            context, points = np.where(blind, spots.plain[player[many]], context), np.where(blind, 0, before[many])
            choice[many] += spots.keeps(_question(context, points, node[many], shown[many]))
        points = before + np.where(lost, 0, board.points[choice])
        after = np.where(lost, node, board.after[choice])
        stop = np.zeros(len(at), np.int64)
        free = np.flatnonzero(~lost & ~board.must_throw[after])
        if len(free):
            context = self._context(table, at[free], standing[free], by[free], points[free])
            stop[free] = spots.stops(_question(context, points[free], after[free]))
        kept = np.where(lost, -1, board.kept[choice])
        table.points[at], table.node[at] = points, after
        table.rolled[at] += 1
        table.hot[at] += (kept >= 0) & (board.count[after] == board.rules.dice)
        return at, {
            "game": at, "player": player, "seat": table.seat[at], "turn": table.turn[at], "round": table.rounds[at],
            "roll": table.rolled[at], "throw": throw, "shown": shown, "node": node, "before": before, "choice": choice,
            "kept": kept, "points": points, "after": after, "stop": stop, "lost": lost,
            "ended": lost | (stop & BANKS > 0),
        }  # fmt: skip

    def _standing(self, table: "_Table", at: Ints) -> tuple[Ints, Ints]:
        """Return how the turns at some games stand there, and in last ones by how many points they lead."""
        due, by = table.due[at], np.zeros(len(at), np.int64)
        late = np.flatnonzero(due >= 0)
        if len(late):
            by[late] = table.lead(at[late])
        return np.where(due < 0, FOLLOWED, np.where(due == 1, LAST, LATE)), by

    def _context(self, table: "_Table", at: Ints, standing: Ints, by: Ints, most: Ints) -> Ints:
        """Return the contexts of the turns at some games, that come to so many points at most."""
        own = table.total[table.mine(at)]
        ends_now = (standing == FOLLOWED) & (self.last[table.seat[at]] == 0)
        ends_now &= own + most >= self.ends.threshold
        how, by = np.where(ends_now, AT_ONCE, standing), np.where(ends_now, own, by)
        return self.spots.context(table.player(at), table.state[table.mine(at)], how, by)

    def _end(self, table: "_Table", done: Ints, lost: Ints) -> Columns:
        """End the turns at some games, and return them."""
        ends, mine = self.ends, table.mine(done)
        state, before, lead, points, rolled = (
            table.state[mine], table.total[mine], table.lead(done), table.points[done], table.rolled[done]
        )  # fmt: skip
        worth = np.where(lost, 0, points)
        posts = (worth > 0) & (worth >= ends.minimum[state])
        kind = np.where(lost, np.where(rolled == 1, FIRST_BUST, BUST), np.where(posts, POSTS, ZERO))
        posted = worth * posts
        change = posted + ends.costs[state, kind]
        table.total[mine], table.state[mine] = before + change, ends.after[state, kind]
        table.busts_running[mine] = np.where(lost, table.busts_running[mine] + 1, 0)
        table.scores_running[mine] = np.where(posts, table.scores_running[mine] + 1, 0)
        table.count[mine] += 1
        table.busts[mine] += lost
        return {
            "game": done, "player": table.player(done), "seat": table.seat[done], "turn": table.turn[done],
            "round": table.rounds[done], "kind": kind, "points": points, "posted": posted, "change": change,
            "before": before, "total": before + change, "lead": lead, "rolls": rolled,
            "dice_left": self.board.count[table.node[done]], "hot_dice": table.hot[done],
            "opened": self.opened[state], "last": table.due[done] >= 0, "busts_running": table.busts_running[mine],
            "scores_running": table.scores_running[mine],
        }  # fmt: skip

    def _pass_on(self, table: "_Table", done: Ints, ended: Columns) -> Ints:
        """Pass the dice on after turns that ended; tell which of the games are over or go on no more here."""
        due, seat = table.due[done], table.seat[done]
        reached = (due < 0) & (ended["total"] >= self.ends.threshold)
        due = np.where(reached, self.last[seat], due - (due > 0))
        over = due == 0
        following = (seat + 1) % self.seats
        table.due[done], table.seat[done] = due, following
        table.rounds[done] += ~over & (following <= seat)
        table.turn[done] += 1
        table.begin_turn(done)
        totals = table.total[done]
        table.over[done] = over & ((totals == totals.max(1, keepdims=True)).sum(1) == 1)
        gone: Ints = over | (table.turn[done] == MOST_TURNS) | (np.abs(ended["total"]) > MOST_TOTAL)
        return gone


class _Table:
    """Games as they stand: by game, and by game and seat."""

    def __init__(self, games: int, seats: int, first: Ints) -> None:
        self.first, self.seats = first, seats
        self.seat, self.node, self.points, self.rolled, self.hot, self.turn = np.zeros((6, games), np.int64)
        self.rounds, self.due = np.ones(games, np.int64), np.full(games, -1)  # last turns due, -1 before them
        self.over = np.zeros(games, bool)
        self.total, self.state, self.busts_running, self.scores_running, self.count, self.busts = np.zeros(
            (6, games, seats), np.int64
        )

    def mine(self, at: Ints) -> tuple[Ints, Ints]:
        """Return the index of the seats at turn in some games."""
        return at, self.seat[at]

    def player(self, at: Ints) -> Ints:
        """Return which players are at turn in some games."""
        found: Ints = (self.first[at] + self.seat[at]) % self.seats
        return found

    def lead(self, at: Ints) -> Ints:
        """Return by how many points the seats at turn lead the best other; with one seat its total."""
        others = self.total[at]
        others[np.arange(len(at)), self.seat[at]] = np.iinfo(np.int64).min
        best = others.max(1)
        found: Ints = self.total[self.mine(at)] - (best if self.seats > 1 else 0)
        return found

    def begin_turn(self, at: Ints) -> None:
        """Begin the turns of the seats that are next."""
        for one in (self.node, self.points, self.rolled, self.hot):
            one[at] = 0


def _in_order(made: Sequence[Columns], over: Ints) -> Columns:
    """Put columns one after another, game after game, without those of games that are not over."""
    game = np.concatenate([one["game"] for one in made] or [np.zeros(0, np.int64)])
    order = np.argsort(game, kind="stable")
    order = order[over[game[order]]]
    return {name: np.concatenate([one[name] for one in made])[order] for name in (made[0] if made else ())}
