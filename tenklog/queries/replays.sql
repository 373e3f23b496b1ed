-- title: Replays compared
-- about: What became of the archived games under other rules, as far as `tenklog replay --archive` replayed them.
-- rules text: the ruleset that they were replayed under; recorded for their own
-- changes text: what was changed in it; unknown for nothing
-- settle text: how guesses were settled: bank, void or stop
-- rule_changes text: those of the logs: kept or replaced
-- games count: games that were replayed
-- finished count: of these finished under these rules
-- unfinished count: of these still to be played on when their log ended
-- decided count: games that were finished, and are under these rules
-- same_winner share: of these, won by the same seats
-- mean_rounds mean: rounds of a game that is finished under these rules
-- turns count: recorded turns
-- same share: turns that changed the own total by the same
-- rescored share: turns of the same decisions that changed it by something else
-- settled share: turns that ended otherwise, guesses among them
-- guesses share: turns of which nobody knows how they would have gone on
-- never_happened share: turns that have no place under these rules
-- needs: replays
WITH summed AS (
    SELECT
        replays.rules,
        changes,
        settle,
        if(keep_rule_changes, 'kept', 'replaced') AS rule_changes,
        count(*) AS games,
        count(*) FILTER (replays.status = 'finished') AS finished,
        count(*) FILTER (replays.status = 'unfinished') AS unfinished,
        count(same_winner) AS decided,
        count(*) FILTER (same_winner) AS kept_winner,
        avg(replays.rounds) FILTER (replays.status = 'finished') AS mean_rounds,
        sum(same + rescored + settled + never_happened)::BIGINT AS turns,
        sum(same)::BIGINT AS same,
        sum(rescored)::BIGINT AS rescored,
        sum(settled)::BIGINT AS settled,
        sum(guesses)::BIGINT AS guesses,
        sum(never_happened)::BIGINT AS never_happened
    FROM replays JOIN games USING (game)
    WHERE chosen_game(games.players)
    GROUP BY replays.rules, changes, settle, keep_rule_changes
)
SELECT
    rules, changes, settle, rule_changes, games, finished, unfinished, decided,
    share(kept_winner, decided) AS same_winner,
    mean_rounds, turns,
    share(same, turns) AS same,
    share(rescored, turns) AS rescored,
    share(settled, turns) AS settled,
    share(guesses, turns) AS guesses,
    share(never_happened, turns) AS never_happened
FROM summed
ORDER BY rules, changes NULLS FIRST, settle, rule_changes
