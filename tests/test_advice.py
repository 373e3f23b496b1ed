"""Tests of advice: what is marked as best is what the fold says of it."""

from collections import Counter
from random import Random

import pytest
from random_games import random_play

from tenklog import events
from tenklog.advice import Option, options, phrase
from tenklog.rulebook import preset
from tenklog.rules import change
from tenklog.state import Position, bank_ban
from tenklog.turns import play


def _banked_wins(position: Position, option: Option) -> bool | None:
    """Play an option and a bank after it on the fold: whether that wins the game; None where no bank is legal."""
    turn = position.turn
    assert turn is not None
    player = position.seats[turn.seat].player
    if option.move == "keep":
        assert option.dice is not None
        keep = events.Keep(1, player=player, dice=option.dice, aside=position.table.aside(option.dice))
        position = play(position, keep)
    elif option.move != "bank":
        return None
    turn = position.turn
    assert turn is not None
    if bank_ban(position, turn)[0]:
        return None
    position = play(position, events.Bank(1, player=player, points=turn.points))
    return position.turn is None and position.winners == (turn.seat,)


@pytest.mark.parametrize("last_turns", ["none", "everyone-else", "rest-of-round"])
@pytest.mark.parametrize("reach", ["at-least", "more-than", "exactly"])
def test_a_bank_that_wins_is_best_and_is_said_to_win(last_turns: str, reach: str) -> None:
    rng = Random(f"{last_turns} {reach}")
    rules = change(
        preset("tiotusen"), {"target": 1000, "last_turns": last_turns, "reach": reach, "opening_minimum": 0}
    )  # fmt: skip
    seen: Counter[str] = Counter()
    while seen["keep"] < 5 or seen["bank"] < 2:
        log, game = random_play(rng, rules, seats=2, lines=rng.randint(8, 60), asides=0)
        position = game.position
        turn = position.turn
        if turn is None or not turn.with_dice or turn.phase == "busted":
            continue
        found = options(position)
        for one in found:
            wins = _banked_wins(position, one)
            assert one.wins == bool(wins), (log[-1], one)
            said = phrase(one)
            if one.wins:
                assert said.endswith(f"bank {one.points}, which wins")
                seen[one.move] += 1
            else:
                assert "which wins" not in said
        assert found[0].wins or not any(one.wins for one in found)
