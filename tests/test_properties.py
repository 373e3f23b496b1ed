"""What must always hold, over random games under random rulesets.

The games are the same in every run: a seed is a ruleset and a game. A second, naive reading of the rules (`reference`)
keeps the score of each beside the real one.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest
from evening import position_facts, why_not
from msgspec.structs import replace
from random_games import ENUMERATED, random_changes, random_dice, random_play, random_ruleset
from reference import Ledger, standing

from tenklog import events, state
from tenklog.decider import (
    Abandon,
    Bank,
    Bust,
    Challenge,
    Change,
    Command,
    Fix,
    Join,
    Keep,
    Leave,
    Note,
    Rename,
    Roll,
    Steal,
    Undo,
    draft,
)
from tenklog.dice import parts
from tenklog.errors import IllegalMove, TenklogError
from tenklog.game import Game, evolve, fold, tag
from tenklog.rules import Ruleset, change

Log = list[events.Event]
RULESETS = 240  # fewer than the score tables that are remembered
GAMES = 5  # under each ruleset


TURN = (events.Roll, events.Keep, events.Bank, events.Bust, events.Steal, events.Challenge)


class Played(NamedTuple):
    """A log, the game that its writer ended with, and the game folded after each line."""

    log: Log
    game: Game
    steps: list[Game]


def played(rng: Random, rules: Ruleset, **options: Any) -> Played:
    log, game = random_play(rng, rules, **options)
    return Played(log, game, steps(log))


def steps(log: Log) -> list[Game]:
    """Return the game after each line."""
    found: list[Game] = []
    for event in log:
        found.append(evolve(found[-1] if found else None, event))
    return found


@pytest.fixture(scope="module")
def games() -> list[Played]:
    """All random games, with everything in them that a table can do."""
    found = []
    for seed in range(RULESETS):
        rng = Random(seed)
        rules = random_ruleset(rng)
        found += [played(rng, rules, replay=seed % 10 == 0) for _ in range(GAMES)]
    return found


def renumbered(log: Log) -> Log:
    return [replace(event, seq=seq) for seq, event in enumerate(log, 1)]


# -- folding ----------------------------------------------------------------------------------------------------------


def test_a_log_that_the_decider_wrote_folds_to_the_game_that_it_had(games: list[Played]) -> None:
    for log, game, _ in games:
        assert position_facts(fold(log).position) == position_facts(game.position)
        assert [event.seq for event in log] == list(range(1, len(log) + 1))


def test_a_log_that_is_cut_after_any_line_is_a_legal_game_and_goes_on_as_it_did(games: list[Played]) -> None:
    for log, _, found in games[::6]:
        for count, game in enumerate(found, 1):
            cut = fold(log[:count])
            assert position_facts(cut.position) == position_facts(game.position)
            assert (cut.seq, cut.event) == (count, game.event)


def test_an_event_out_of_order_is_refused(games: list[Played]) -> None:
    for log, _, found in games[::20]:
        for game, event in zip(found, log[1:], strict=False):
            for seq in (game.seq, game.seq + 2):
                refusal = f"seq {seq} follows seq {game.seq}; seq {game.seq + 1}"
                assert why_not(game, replace(event, seq=seq)) == refusal


def test_events_are_read_back_as_they_were_written(games: list[Played]) -> None:
    for log, _, _ in games:
        for event in log:
            line = events.encode(event)
            assert events.decode(line) == event
            assert line.startswith(b'{"type":"%b","seq":%d' % (tag(event).encode(), event.seq))


def test_the_order_of_dice_in_a_throw_or_a_keep_never_matters(games: list[Played]) -> None:
    rng = Random(0)
    for log, game, _ in games:
        shuffled: Log = []
        for event in log:
            if isinstance(event, events.Roll | events.Keep):
                shuffled.append(replace(event, dice=tuple(rng.sample(event.dice, len(event.dice)))))
            else:
                shuffled.append(event)
        again = fold(shuffled).position
        assert again.seats == game.position.seats
        assert [(turn.outcome, turn.posted) for turn in again.turns()] == [
            (turn.outcome, turn.posted) for turn in game.position.turns()
        ]
        assert (again.winners, again.due, state.legal(again)) == (
            game.position.winners,
            game.position.due,
            state.legal(game.position),
        )


# -- legal moves ------------------------------------------------------------------------------------------------------


def moves(game: Game, rng: Random) -> dict[str, tuple[Command, events.Event]]:
    """Return one try at each kind of move: what would be asked, and the event that would be written."""
    position, turn, seq = game.position, game.position.turn, game.seq + 1
    assert turn is not None
    player = position.seats[turn.seat].player
    others = [seat.player for n, seat in enumerate(position.seats) if n != turn.seat and not seat.left] or ["nobody"]
    keeps = state.keeps(position, turn)
    dice = rng.choice(sorted(keeps)) if keeps else (turn.roll or (1,))[:1]
    asides = position.table.asides(dice) if position.rules.set_aside == "one-per-combination" else []
    aside = rng.choice(asides) if asides else None
    thrown = random_dice(rng, turn.dice_left)
    points = turn.points if turn.rolls or turn.stolen else rng.randrange(0, 600, 50)
    opponent = rng.choice(others)
    return {
        "roll": (Roll(thrown), events.Roll(seq, player=player, dice=thrown)),
        "keep": (Keep(dice, aside), events.Keep(seq, player=player, dice=dice, aside=aside)),
        "bank": (Bank(points), events.Bank(seq, player=player, points=points)),
        "bust": (Bust(), events.Bust(seq, player=player)),
        "steal": (Steal(), events.Steal(seq, player=player)),
        "challenge": (Challenge(opponent), events.Challenge(seq, player=player, opponent=opponent)),
    }


def accepted(game: Game, event: events.Event) -> bool:
    """Tell whether an event may stand here; a refusal must say what would be right."""
    try:
        evolve(game, event)
    except TenklogError as error:
        refusal = error
    else:
        return True
    assert refusal.what
    assert refusal.right
    return False


def test_every_unfinished_game_has_a_legal_move_and_a_finished_one_has_none(games: list[Played]) -> None:
    for _, _, found in games:
        for game in found:
            assert bool(state.legal(game.position)) == (game.position.status in ("in-progress", "last-turns"))


def test_a_move_is_accepted_when_it_is_listed_as_legal_and_refused_otherwise(games: list[Played]) -> None:
    rng = Random(1)
    for _, _, found in games[::2]:
        for game in found:
            if game.position.turn is None:
                continue
            legal = state.legal(game.position)
            for word, (command, event) in moves(game, rng).items():
                assert accepted(game, event) == (word in legal), (word, legal)
                if word in legal:
                    assert draft(game, command).events[0] == event


def test_every_keep_is_accepted_when_it_is_listed_and_refused_otherwise(games: list[Played]) -> None:
    for _, _, found in games[::10]:
        for game in found:
            position, turn = game.position, game.position.turn
            if turn is None or turn.phase != "rolled":
                continue
            player, legal = position.seats[turn.seat].player, state.keeps(position, turn)
            for dice in (*parts(tuple(sorted(turn.roll))), (1,) * 6, turn.roll[:1] * 2):
                asides = position.table.asides(dice) if position.rules.set_aside == "one-per-combination" else []
                keep = events.Keep(game.seq + 1, player=player, dice=dice, aside=asides[0] if asides else None)
                assert accepted(game, keep) == (dice in legal)


def test_a_move_that_is_no_move_of_this_player_or_these_dice_is_refused(games: list[Played]) -> None:
    rng = Random(2)
    for _, _, found in games[::10]:
        for game in found:
            position, turn = game.position, game.position.turn
            if turn is None:
                continue
            for _, event in moves(game, rng).values():
                stranger = next((n for n, _ in enumerate(position.seats) if n != turn.seat), None)
                if stranger is not None:
                    other = replace(event, player=position.seats[stranger].player)
                    assert not accepted(game, other)
            player = position.seats[turn.seat].player
            for count in range(1, 7):
                if count != turn.dice_left:
                    roll = events.Roll(game.seq + 1, player=player, dice=random_dice(rng, count))
                    assert not accepted(game, roll)
            if turn.rolls or turn.stolen:
                assert not accepted(game, events.Bank(game.seq + 1, player=player, points=turn.points + 1))


# -- taking back ------------------------------------------------------------------------------------------------------


def test_undo_returns_to_an_equal_position(games: list[Played]) -> None:
    for log, _, found in games:
        before: list[tuple[events.Event, Game]] = []  # the table events that stand, and the game before each
        for game, event in zip(found[:-1], log[1:], strict=True):
            if isinstance(event, events.Undo):
                taken, earlier = before.pop()
                assert taken.seq == event.of
                followed = earlier.position.turn is not None and earlier.position.turn.phase == "busted"
                if isinstance(taken, events.Bust) and followed:
                    _, earlier = before.pop()
                assert position_facts(evolve(game, event).position) == position_facts(earlier.position)
            elif not isinstance(event, events.Note | events.Expect):
                before.append((event, game))


def test_everything_can_be_undone_back_to_the_start(games: list[Played]) -> None:
    for log, game, _ in games[::5]:
        back = game
        while back.event is not None:
            back = draft(back, Undo()).game
        assert position_facts(back.position) == position_facts(fold(log[:1]).position)


def test_what_was_taken_back_leaves_no_trace(games: list[Played]) -> None:
    for log, game, _ in games:
        left = [node.event for node in game.standing() if node.event is not None]
        clean = renumbered([log[0], *left[::-1]])
        assert position_facts(fold(clean).position) == position_facts(game.position)


# -- corrections ------------------------------------------------------------------------------------------------------


def told_again(game: Game, event: events.Event, had_dice: bool) -> Game:
    """Play an event again as a command on another game; raise when that is not what would happen there."""
    turn = game.position.turn
    player = "" if turn is None else game.position.seats[turn.seat].player
    if isinstance(event, TURN) and event.player != player:
        raise IllegalMove("somebody else is to play")
    command: Command
    match event:
        case events.Roll(dice=dice):
            command = Roll(dice)
        case events.Keep(dice=dice, aside=aside):
            command = Keep(dice, aside)
        case events.Bank(points=points):
            if had_dice != (turn is not None and (turn.rolls > 0 or turn.stolen)):
                raise IllegalMove("points of dice are no points of a score sheet")
            command = Bank(None if had_dice else points)
        case events.Bust():
            command = Bust()
        case events.Steal():
            command = Steal()
        case events.Challenge(opponent=opponent):
            command = Challenge(opponent)
        case events.RuleChange(changes=changes):
            command = Change(changes)
        case events.Join(player=name):
            command = Join(name)
        case events.Leave(player=name):
            command = Leave(name)
        case events.Rename(player=name, to=to):
            command = Rename(name, to)
        case _:
            command = Abandon()
    return draft(game, command).game


def follows(before: Game, node: Game) -> bool:
    """Tell whether an event is the bust that follows a losing roll by itself."""
    return isinstance(node.event, events.Bust) and state.legal(before.position) == ["bust"]


def corrections(rng: Random, nodes: list[Game]) -> Iterator[tuple[events.Event, Fix]]:
    """Yield a correction for some of the rolls, keeps and score-sheet turns that stand."""
    for node in nodes:
        event, before = node.event, node.before
        assert event is not None
        assert before is not None
        turn = before.position.turn
        if isinstance(event, events.Roll):
            dice = random_dice(rng, len(event.dice) + rng.choice((-1, 0, 0, 0, 0, 0)) or 1)
            yield replace(event, dice=dice, thrown_by=None), Fix(event.seq, dice=dice)
        elif isinstance(event, events.Keep):
            assert turn is not None
            dice = tuple(rng.sample(turn.roll, rng.randint(1, len(turn.roll))))
            asides = before.position.table.asides(tuple(sorted(dice)))
            ones = before.position.rules.set_aside == "one-per-combination"
            yield replace(event, dice=dice, aside=asides[0] if ones and asides else None), Fix(event.seq, dice=dice)
        elif isinstance(event, events.Bank | events.Bust) and turn is not None and not turn.rolls and not turn.stolen:
            points = rng.randrange(0, 900, 50)
            yield events.Bank(event.seq, player=event.player, points=points), Fix(event.seq, points=points)
            yield events.Bust(event.seq, player=event.player), Fix(event.seq)


def test_a_correction_is_the_game_told_again_with_the_corrected_event() -> None:
    taken = refused = 0
    for seed in range(3000, 3080):
        rng = Random(seed)
        log, game, _ = played(rng, random_ruleset(rng), without={"whole-game"}, lines=40, seats=1 + seed % 3)
        # Busts that follow from a roll follow from it again.
        plain = [node for node in list(game.standing())[::-1] if not (node.before and follows(node.before, node))]
        for corrected, asked in corrections(rng, rng.sample(plain, min(8, len(plain)))):
            again: Game | None = fold(log[:1])
            for node in plain:
                assert node.event is not None
                assert node.before is not None
                turn = node.before.position.turn
                event = corrected if node.event.seq == asked.seq else node.event
                had_dice = turn is not None and (turn.rolls > 0 or turn.stolen)
                try:
                    again = again and told_again(again, event, had_dice)
                except TenklogError:
                    again = None
            try:
                fixed: Game | None = draft(game, asked).game
            except TenklogError:
                fixed = None
            assert (fixed is None) == (again is None), (corrected, asked)
            if fixed is not None and again is not None:
                assert position_facts(fixed.position) == position_facts(again.position)
                taken += 1
            else:
                refused += 1
    assert taken > 100
    assert refused > 100


# -- rule changes for the whole game ----------------------------------------------------------------------------------


def test_a_change_for_the_whole_game_gives_the_game_under_other_rules(games: list[Played]) -> None:
    tried = 0
    for log, game, _ in games:
        left = [node.event for node in game.standing() if node.event is not None][::-1]
        changes = [event for event in left if isinstance(event, events.RuleChange)]
        if not changes or any(event.scope == "next-turn" for event in changes):
            continue
        start = log[0]
        assert isinstance(start, events.Start)
        rules = start.rules
        for event in changes:
            rules = change(rules, event.changes)
        again = fold([replace(start, rules=rules)])
        for played in left:
            turn = again.position.turn
            if isinstance(played, events.RuleChange):
                continue
            anew: dict[str, int] = {"seq": again.seq + 1}
            if isinstance(played, events.Bank) and turn is not None and (turn.rolls or turn.stolen):
                anew["points"] = 0 if played.settled else turn.points
            again = evolve(again, replace(played, **anew))
        assert position_facts(again.position) == position_facts(game.position)
        tried += 1
    assert tried > 50


def test_a_change_for_the_whole_game_is_refused_with_the_first_event_that_it_forbids() -> None:
    taken = refused = 0
    for seed in range(4000, 4120):
        rng = Random(seed)
        log, game, _ = played(rng, random_ruleset(rng), without={"change", "whole-game", "abandon"}, lines=30)
        left = list(game.standing())[::-1]
        if game.position.turn is None:
            continue
        for _ in range(6):
            changes = random_changes(rng, 1)
            try:
                rules = change(game.position.rules, changes)
            except TenklogError:
                continue
            again, wrong = fold([replace(log[0], rules=rules)]), ""
            for node in left:
                assert node.event is not None
                turn = again.position.turn
                anew: dict[str, int] = {"seq": again.seq + 1}
                if isinstance(node.event, events.Bank) and turn is not None and (turn.rolls or turn.stolen):
                    anew["points"] = turn.points
                try:
                    again = evolve(again, replace(node.event, **anew))
                except TenklogError:
                    wrong = f"event {node.event.seq} ({tag(node.event)}) would not be legal under these rules: "
                    break
            try:
                changed = draft(game, Change(changes, whole_game=True)).game
            except TenklogError as error:
                assert wrong
                assert error.what.startswith(wrong)  # noqa: PT017
                assert error.right.endswith("or see `tenklog replay`")  # noqa: PT017
                refused += 1
            else:
                assert not wrong
                if again.position.turn is not None and again.position.turn.phase == "busted":
                    again = draft(again, Note("so the bust follows")).game
                assert position_facts(changed.position) == position_facts(again.position)
                taken += 1
    assert taken > 50
    assert refused > 50


# -- the second reading -----------------------------------------------------------------------------------------------


def compare(log: Log, found: list[Game]) -> None:
    """Keep the score of a log on paper beside the fold, event by event."""
    start = log[0]
    assert isinstance(start, events.Start)
    paper = Ledger(start)
    for game, event in zip(found[1:], log[1:], strict=True):
        if isinstance(event, events.Note | events.Expect):
            continue
        paper.feed(event)
        position = game.position
        assert [(line.name, line.total, line.opened, line.row, line.gone) for line in paper.lines] == [
            (seat.player, seat.total, seat.opened, seat.streak, seat.left) for seat in position.seats
        ]
        assert paper.over == (position.turn is None)
        assert tuple(paper.winners) == position.winners
        if position.turn is not None:
            assert paper.rules == position.rules
            assert paper.due == (None if position.due is None else list(position.due))
            assert (paper.seat, paper.hand.left, paper.hand.points) == (
                position.turn.seat,
                position.turn.dice_left,
                position.turn.points,
            )
            assert paper.lost == (position.turn.phase == "busted")
            assert paper.lost or paper.keeps() == state.keeps(position, position.turn)
    ended = [(turn.outcome, turn.posted, turn.change) for turn in position.turns()]
    assert [(outcome, posted, change) for _, outcome, posted, change in paper.sheet] == ended


@pytest.mark.parametrize("replay", [False, True])
def test_the_score_on_paper_is_the_score_of_the_fold(replay: bool) -> None:
    for seed in range(1000, 1050 if replay else 1200):
        rng = Random(seed)
        log, _, found = played(rng, random_ruleset(rng), without={"undo", "fix", "whole-game"}, replay=replay, lines=80)
        compare(log, found)


def test_the_score_on_paper_of_what_still_stands_is_the_score_of_the_fold() -> None:
    for seed in range(2000, 2060):
        rng = Random(seed)
        log, _ = random_play(rng, random_ruleset(rng), without={"whole-game"}, asides=0.2)
        clean = renumbered([log[0], *standing(log)])
        compare(clean, steps(clean))


# -- scores -----------------------------------------------------------------------------------------------------------


def test_random_rule_changes_are_taken_or_refused_with_what_would_be_right() -> None:
    rng = Random(3)
    rules: Ruleset = random_ruleset(rng)
    refused = []
    for _ in range(500):
        try:
            rules = change(rules, random_changes(rng, 3))
        except TenklogError as error:
            refused.append(error)
    assert 10 < len(refused) < 400
    assert all(error.right for error in refused)


# -- what the games hold ----------------------------------------------------------------------------------------------


def test_the_random_games_hold_everything_often_enough(games: list[Played]) -> None:
    seen: Counter[str] = Counter()
    for log, game, found in games:
        seen.update(tag(event) for event in log)
        seen.update(event.scope for event in log if isinstance(event, events.RuleChange))
        seen.update(turn.outcome for turn in game.position.turns())
        seen.update({"extra turns" for step in found if step.position.extra})
        seen.update({step.position.status for step in found})
        start = log[0]
        assert isinstance(start, events.Start)
        for key in ENUMERATED:
            seen[f"{key}={getattr(start.rules, key)}"] += 1
    expected = [str(kind.__struct_config__.tag) for kind in events.Event.__subclasses__()]
    expected += [f"{key}={value}" for key, values in ENUMERATED.items() for value in values]
    expected += ["banked", "bust", "scoreless", "wiped-out", "won", "settled", "left", "next-turn", "whole-game"]
    expected += ["in-progress", "last-turns", "finished", "abandoned", "extra turns"]
    rare = {word: seen[word] for word in expected if seen[word] < 50}
    assert rare == {}
