"""What must always hold of replays, over random games under random rulesets, each under every policy.

The games are the same in every run. What a replay says of itself is compared with the two sheets and the two logs,
which are laid beside each other here once more, turn by turn.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple, get_args

import pytest
from msgspec.structs import asdict, replace
from random_games import ENUMERATED, random_changes, random_play, random_ruleset

from tenklog import events, lines, projections
from tenklog.dice import Dice
from tenklog.errors import TenklogError, UsageError
from tenklog.game import Game, evolve, false_expect
from tenklog.replayer import Became, Divergence, Kind, Replayed, ReplayedTurn, replay
from tenklog.rules import Ruleset, change
from tenklog.state import Ended
from tenklog.walk import Settle

Log = list[events.AnyEvent]
SEEDS = range(110)  # each a ruleset
GAMES = 4  # under each of them
OF = "7:" + "0f" * 16
POLICIES: tuple[Settle, ...] = ("bank", "void", "stop")
MOVES = (events.Roll, events.Keep, events.Bank, events.Bust, events.Steal, events.Challenge)
SETTLED = {
    "keep-illegal", "bust-scores", "no-win", "dice-differ", "must-roll", "roll-busts", "wins-here", "must-bank",
}  # fmt: skip
CONSEQUENCES = {"posts-zero", "no-dice"}


class Trial(NamedTuple):
    """A recorded game, the rules asked for, and what each policy made of it."""

    seed: int
    log: Log
    game: Game
    asked: Ruleset | None
    keep: bool
    by: dict[Settle, Replayed]


def near(rng: Random, rules: Ruleset) -> Ruleset:
    """Return rules that differ in a few things, so that games part late and for one reason at a time."""
    while True:
        changes = random_changes(rng, rng.randint(1, 4))
        if rng.random() < (0.5 if rules.instant_win else 0.3):
            changes["instant_win"] = None if rules.instant_win else rng.choice(("AAA", "AABB", "AAAA", "44"))
        if rng.random() < 0.2:
            changes["wipeout"] = rng.choice((None, "AAAA", "22", "123"))
        if rng.random() < 0.3:
            changes["hot_dice"] = rng.choice(("must-roll", "must-bank", "must-bank"))
        try:
            return change(rules, changes)
        except TenklogError:
            continue


def far(rng: Random, rules: Ruleset) -> Ruleset:
    """Return any rules, but as many dice more often than not, without which little else is seen."""
    while True:
        try:
            return change(random_ruleset(rng), {"dice": rules.dice} if rng.random() < 0.8 else {})
        except TenklogError:
            continue


@lru_cache(maxsize=1)
def trials() -> list[Trial]:
    """Play all games and replay each: under rules near to its own, under any rules, and under its own."""
    found = []
    for seed in SEEDS:
        rng = Random(seed)
        rules = random_ruleset(rng)
        others = (near(rng, rules), near(rng, rules), near(rng, rules), far(rng, rules), None)
        for _ in range(GAMES):
            log, game = recorded(rng, rules)
            for asked in others:
                keep = rng.random() < 0.3
                try:
                    by = {
                        policy: replay(game, log, asked, settle=policy, keep_rule_changes=keep, of=OF)
                        for policy in POLICIES
                    }
                except UsageError:
                    assert keep, seed  # kept changes may contradict the rules asked for, nothing else may
                    continue
                found.append(Trial(seed, log, game, asked, keep, by))
    return found


def recorded(rng: Random, rules: Ruleset) -> tuple[Log, Game]:
    """Play a game, now and then a replay's own log, and compare it with a paper that is right or wrong."""
    size, asides = rng.choice((25, 60, 120)), rng.choice((0.0, 0.05, 0.1))
    played, game = random_play(rng, rules, lines=size, asides=asides, replay=rng.random() < 0.1)
    log: Log = [events.normal(event) for event in played]
    for wrong in rng.choice(((), (), (0,), (50,), (50, 0))):
        seat = rng.choice(game.position.seats)
        log.append(events.Expect(len(log) + 1, totals={seat.player: seat.total + wrong}))
        game = evolve(game, log[-1])
    return log, game


def replays() -> Iterator[tuple[Trial, Settle, Replayed]]:
    for trial in trials():
        for policy, found in trial.by.items():
            yield trial, policy, found


# -- the two games laid beside each other -----------------------------------------------------------------------------


class Turn(NamedTuple):
    """A turn that has begun: its moves, its entry on the sheet if it has one, its number, 0 when `leave` dropped it."""

    moves: Log
    ended: Ended | None
    number: int


def played_turns(game: Game) -> list[Turn]:
    """Return every turn that has begun, also those that `leave` dropped and the one in progress."""
    moves: dict[int, Log] = {}
    for node in reversed(list(game.standing())):
        if isinstance(node.event, MOVES) and node.before is not None:
            moves.setdefault(len(node.before.position.turns()), []).append(node.event)
    entries: list[Ended | None] = list(game.position.turns())
    found = []
    number = 0
    for place in sorted(moves):
        ended = entries[place] if place < len(entries) else None
        left = ended is not None and ended.outcome == "left"
        number += not left
        found.append(Turn(moves[place], ended, 0 if left else number))
    assert len(found) >= len(entries)
    return found


class Pair(NamedTuple):
    """A recorded turn, the turn that it became here (None where it never happened), and its divergences."""

    there: Turn
    here: Turn | None
    found: list[Divergence]

    @property
    def kinds(self) -> set[str]:
        return {one.kind for one in self.found}


def pairs(trial: Trial, found: Replayed) -> list[Pair]:
    """Lay the turns of both games beside each other: in order, without those that never happened."""
    here = iter(played_turns(found.game))
    laid = []
    for turn in played_turns(trial.game):
        seqs = {event.seq for event in turn.moves}
        parted = [one for one in found.replay.divergences if one.seq in seqs]
        never = any(one.kind == "never-happened" for one in parted)
        # A dropped turn of a steal or a challenge alone has not begun here when those are missing.
        empty = len(turn.moves) == sum(one.kind == "ability-missing" for one in parted)
        laid.append(Pair(turn, None if never or empty else next(here, None), parted))
    assert next(here, None) is None, trial.seed
    return laid


def rolls(moves: Log) -> list[Dice]:
    return [event.dice for event in moves if isinstance(event, events.Roll)]


def ended(turn: Turn | None) -> Ended | None:
    """Return the entry of a turn that ended by its rules."""
    return turn.ended if turn is not None and turn.number else None


# -- the log's own rules ----------------------------------------------------------------------------------------------


def standing(log: Log) -> Iterator[events.AnyEvent]:
    """Yield what was not taken back, by the undo lines alone."""
    stack: Log = []
    for event in log[1:]:
        if not isinstance(event, events.Undo):
            stack.append(event)
            continue
        table = [one for one in stack if not isinstance(one, events.Note | events.Expect)]
        assert table[-1].seq == event.of
        stack.remove(table[-1])
        if isinstance(table[-1], events.Bust) and len(table) > 1 and isinstance(table[-2], events.Roll):
            stack.remove(table[-2])
    yield from stack


def content(event: events.AnyEvent) -> events.AnyEvent:
    return replace(event, seq=1, time=None, id=None)


def test_a_replay_under_the_recorded_rules_is_the_log_itself() -> None:
    seen = Counter[str]()
    for trial, _, found in replays():
        if trial.asked is not None:
            continue
        outcome = found.replay
        assert outcome.divergences == [], trial.seed
        assert outcome.guesses == 0
        count = sum(one.number > 0 for one in trial.game.position.turns())
        assert asdict(outcome.turns) == {"same": count, "rescored": 0, "settled": 0, "never_happened": 0}, trial.seed
        assert outcome.standings == projections.standings(trial.game.position)
        start = replace(trial.game.start, origin="replay", of=OF)
        assert found.log[0] == start
        game = evolve(None, start)
        expected = []
        for event in standing(trial.log):
            holds = not isinstance(event, events.Expect) or not false_expect(game.position, event)
            seen[f"expect {holds}"] += isinstance(event, events.Expect)
            if holds:
                game = evolve(game, replace(event, seq=game.seq + 1))
                expected.append(content(event))
        assert [content(event) for event in found.log[1:]] == expected, trial.seed
        seen["undo"] += any(isinstance(event, events.Undo) for event in trial.log)
        seen["whole-game"] += any(getattr(event, "scope", "") == "whole-game" for event in trial.log)
    assert min(seen[key] for key in ("expect True", "expect False", "undo", "whole-game")) >= 20, seen


def test_rules_that_are_the_recorded_ones_part_nowhere() -> None:
    count = 0
    for trial in trials():
        if trial.asked is None and not any(isinstance(event, events.RuleChange) for event in trial.log):
            found = replay(trial.game, trial.log, trial.game.start.rules, of=OF)
            assert found.log == trial.by["bank"].log, trial.seed
            assert found.replay.divergences == []
            count += 1
    assert count > 100


def test_a_replay_of_a_replay_under_the_same_rules_parts_nowhere() -> None:
    for trial, policy, found in replays():
        if policy != "bank" and found.log == trial.by["bank"].log:
            continue  # the same in another test
        again = replay(found.game, found.log, None, of=OF)
        assert again.log == found.log, (trial.seed, policy)
        assert again.replay.divergences == []
        if not any(isinstance(event, events.RuleChange) for event in found.log):
            explicit = replay(found.game, found.log, found.game.start.rules, settle=policy, of=OF)
            assert (explicit.log, explicit.replay.divergences) == (found.log, []), (trial.seed, policy)
            assert explicit.replay.standings == found.replay.standings


# -- the log that is written ------------------------------------------------------------------------------------------


def test_the_written_log_is_a_legal_game_that_stands_as_the_replay_says() -> None:
    seen = Counter[str]()
    for trial, policy, found in replays():
        where = (trial.seed, policy)
        if policy != "bank" and not found.replay.guesses:
            continue  # the same in another test
        scan = lines.scan(b"".join(line + b"\n" for line in lines.seal_all(found.log)))
        assert (scan.damage, scan.torn, scan.events) == (None, b"", found.log), where
        game: Game | None = None
        for event in scan.events:
            game = evolve(game, event)
            assert not isinstance(event, events.Expect) or not false_expect(game.position, event), where
        assert game is not None
        outcome, shown = found.replay, projections.show(game)
        assert outcome.standings == shown.standings, where
        assert outcome.winners == shown.winners, where
        over = shown.status in ("finished", "abandoned")
        best = max(one.total for one in shown.standings if not one.left)
        leaders = [seat.player for seat in game.position.seats if seat.total == best and not seat.left]
        assert outcome.leaders == (leaders if outcome.status == "unfinished" else []), where
        assert outcome.status in ((shown.status,) if over else ("unfinished", "stopped")), where
        assert (outcome.status == "stopped") == (policy == "stop" and outcome.guesses > 0), where
        seen[outcome.status] += 1
    assert min(seen[status] for status in ("finished", "abandoned", "unfinished", "stopped")) >= 50, seen


def test_a_kept_rule_change_is_in_the_log_where_it_stood_and_others_are_not() -> None:
    seen = 0
    for trial, policy, found in replays():
        written = [event.changes for event in found.log if isinstance(event, events.RuleChange)]
        if trial.asked is None:
            continue
        if not trial.keep:
            assert written == [], (trial.seed, policy)
            assert found.game.start.rules == trial.asked
            continue
        recorded = [event for event in standing(trial.log) if isinstance(event, events.RuleChange)]
        whole: dict[str, object] = {}
        left: list[dict[str, object]] = []
        for event in recorded[::-1]:
            if event.scope == "whole-game":
                whole = dict(event.changes) | whole
            else:
                left.insert(0, {key: value for key, value in event.changes.items() if key not in whole})
        left = [changes for changes in left if changes]
        assert written == left[: len(written)], (trial.seed, policy)
        assert len(written) == len(left) or found.replay.status != "unfinished", (trial.seed, policy)
        for key, value in whole.items():
            if hasattr(trial.asked, key):
                assert getattr(found.game.start.rules, key) == value, (trial.seed, policy)
        seen += len(written) + len(whole)
    assert seen > 100


# -- what the replay says of itself -----------------------------------------------------------------------------------


def test_each_recorded_turn_that_ended_is_one_of_same_rescored_settled_and_never_happened() -> None:
    for trial, policy, found in replays():
        told = []
        stopped = False
        for there, here, parted in pairs(trial, found):
            if ended(there) is None:
                stopped = stopped or (policy == "stop" and any(one.guess for one in parted))
                continue
            now, then = ended(here), ended(there)
            kind = next((one.kind for one in parted if one.kind in SETTLED), None)
            became: Became = "never-happened"
            if kind is not None:
                became = "settled"
                stopped = stopped or (policy == "stop" and any(one.guess for one in parted))
            elif here is None:
                assert stopped or [one.kind for one in parted] == ["never-happened"], (trial.seed, policy)
            else:
                assert now is not None
                assert then is not None
                became = "same" if now.change == then.change else "rescored"
            told.append(ReplayedTurn(there.number, became, kind, None if now is None else now.change))
        assert found.turns == told, (trial.seed, policy)
        count = Counter(one.became.replace("-", "_") for one in told)
        assert asdict(found.replay.turns) == {key: count[key] for key in asdict(found.replay.turns)}
        assert len(told) == sum(one.number > 0 for one in trial.game.position.turns())


def test_the_changes_in_a_divergence_are_those_in_the_two_sheets() -> None:
    for trial, policy, found in replays():
        beside = {seq for there, *_ in pairs(trial, found) for seq in [event.seq for event in there.moves]}
        for there, here, parted in pairs(trial, found):
            now, then = ended(here), ended(there)
            for one in parted:
                where = (trial.seed, policy, one)
                assert one.turn == (there.number or None), where
                assert one.recorded == (None if then is None else then.change), where
                assert one.replayed == (None if now is None else now.change), where
                seat = evolve_seat(there, trial.game)
                assert one.player == trial.game.position.seats[seat].player, where
        for one in found.replay.divergences:
            if one.seq not in beside:
                assert (one.kind, one.turn, one.recorded, one.replayed) == ("never-happened", None, None, None)


def evolve_seat(turn: Turn, game: Game) -> int:
    """Return the seat of a turn's player."""
    node = next(node for node in game.standing() if node.event is turn.moves[0])
    assert node.before is not None
    assert node.before.position.turn is not None
    return node.before.position.turn.seat


def test_a_turn_is_taken_over_up_to_the_seq_of_its_divergence_and_no_further() -> None:
    for trial, policy, found in replays():
        for there, here, parted in pairs(trial, found):
            where = (trial.seed, policy, parted)
            settling = [one for one in parted if one.kind in SETTLED]
            assert len(settling) <= 1, where
            if here is None:
                continue
            missing = {one.seq for one in parted if one.kind == "ability-missing"}
            if not settling:
                kept = [event for event in there.moves if event.seq not in missing]
                assert [type(event) for event in kept] == [type(event) for event in here.moves], where
                assert dice_of(kept) == dice_of(here.moves), where
                continue
            one = settling[0]
            taken = [event for event in there.moves if event.seq < one.seq and event.seq not in missing]
            by_roll = one.kind in ("roll-busts", "wins-here", "no-win", "bust-scores")
            last = there.moves[-1]
            if (
                by_roll
                and one.seq == last.seq
                and isinstance(last, events.Roll)
                and last.dice in rolls(here.moves)[-1:]
            ):
                taken.append(last)  # nothing of the turn follows this roll
            assert dice_of(here.moves)[: len(dice_of(taken))] == dice_of(taken), where
            assert rolls(here.moves) == rolls(taken), where
            assert len(here.moves) <= len(taken) + 2, where
            assert not by_roll or isinstance(taken[-1], events.Roll), where


def dice_of(moves: Log) -> list[Dice]:
    return [event.dice for event in moves if isinstance(event, events.Roll | events.Keep)]


def test_how_a_settled_turn_ends_is_what_its_divergence_and_the_policy_say() -> None:
    seen = Counter[tuple[str, str, str]]()
    for trial, policy, found in replays():
        for there, here, parted in pairs(trial, found):
            settling = [one for one in parted if one.kind in SETTLED]
            if not settling or (policy == "stop" and settling[0].guess):
                continue
            assert here is not None
            assert here.ended is not None
            kind, outcome = settling[0].kind, here.ended.outcome
            where = (trial.seed, policy, settling, there)
            seen[kind, policy, outcome] += 1
            if kind in ("must-bank", "roll-busts", "wins-here"):
                allowed = {"must-bank": {"banked", "scoreless"}, "roll-busts": {"bust", "wiped-out"}}
                assert outcome in allowed.get(kind, {"won"}), where
            elif kind == "must-roll":
                assert outcome == "settled", where
            elif policy == "void":
                assert outcome == "settled" or (kind == "no-win" and outcome in ("bust", "wiped-out")), where
            else:
                assert outcome in ("settled", "banked", "scoreless") or kind == "no-win", where
    for kind in ("keep-illegal", "bust-scores", "dice-differ"):
        assert seen[kind, "bank", "banked"] >= 10, seen
        assert seen[kind, "bank", "settled"] >= 10, seen


def test_a_guess_is_a_turn_and_no_turn_is_two() -> None:
    for trial, policy, found in replays():
        guessed = [part.there.moves[0].seq for part in pairs(trial, found) for one in part.found if one.guess]
        assert len(guessed) == len(set(guessed)) == found.replay.guesses, (trial.seed, policy)


def test_stop_is_the_other_replays_up_to_their_first_guess() -> None:
    for trial in trials():
        bank, stop = trial.by["bank"], trial.by["stop"]
        assert stop.log == bank.log[: len(stop.log)], trial.seed
        if not bank.replay.guesses:
            assert replace(stop.replay, settle="bank") == bank.replay, trial.seed
            continue
        told = stop.replay.divergences
        first = next(place for place, one in enumerate(bank.replay.divergences) if one.guess)
        assert [one.guess for one in told] == [False] * (len(told) - 1) + [True], trial.seed
        # What `leave` and the like dropped after a roll may stand between it and the event it is listed at.
        assert [(one.seq, one.kind) for one in told] == [
            (one.seq, one.kind)
            for one in bank.replay.divergences[: first + 1]
            if one.kind not in CONSEQUENCES or one.seq < told[-1].seq
        ], trial.seed


def test_without_a_guess_bank_and_void_are_the_same() -> None:
    count = 0
    for trial in trials():
        bank, void = trial.by["bank"], trial.by["void"]
        if not bank.replay.guesses:
            assert void.log == bank.log, trial.seed
            assert replace(void.replay, settle="bank") == bank.replay, trial.seed
            count += bool(bank.replay.divergences)
    assert count > 50


def test_divergences_come_in_the_order_of_the_log_and_say_in_a_sentence_who_and_what() -> None:
    for trial, policy, found in replays():
        told = found.replay.divergences
        assert [one.seq for one in told] == sorted(one.seq for one in told), trial.seed
        named = {seat.player for seat in trial.game.position.seats}
        for one in told:
            where = (trial.seed, policy, one)
            assert one.player in named or "abandoned" in one.text, where
            assert re.fullmatch(r"[^.\n]+( [^.]+)*\.", one.text), where
            assert not re.search(r"None|\(\)|  | [,;:.]|\b1 points|\b1 dice", one.text), where


# -- how much of it all the games reach -------------------------------------------------------------------------------


def test_every_kind_of_divergence_occurred_often_enough_under_each_policy() -> None:
    seen = Counter((policy, one.kind) for _, policy, found in replays() for one in found.replay.divergences)
    for policy in POLICIES:
        for kind in get_args(Kind):
            # A replay that stops at its first guess sees less.
            assert seen[policy, kind] >= (20 if policy == "stop" else 50), (policy, kind, seen)


@pytest.mark.parametrize("key", ENUMERATED)
def test_every_value_of_a_setting_was_recorded_and_asked_for(key: str) -> None:
    recorded = Counter(getattr(trial.game.start.rules, key) for trial in trials())
    asked = Counter(getattr(trial.asked, key) for trial in trials() if trial.asked is not None)
    for value in ENUMERATED[key]:
        assert recorded[value] >= 50, recorded
        assert asked[value] >= 50, asked
