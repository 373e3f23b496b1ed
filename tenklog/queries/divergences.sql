-- title: Divergences
-- about: What became of recorded turns under other rules, as far as `replay --archive --turns` replayed them.
-- rules text: the ruleset that they were replayed under; recorded for their own
-- changes text: what was changed in it; unknown for nothing
-- settle text: how guesses were settled: bank, void or stop
-- rule_changes text: those of the logs: kept or replaced
-- became text: same, rescored, settled or never-happened
-- kind text: the divergence by which they were settled; unknown unless they were
-- turns count: such turns
-- share share: their share in all turns replayed so
-- recorded mean: by how many points such a turn changed the own total
-- replayed mean: by how many it does under these rules
-- needs: replayed_turns
WITH summed AS (
    SELECT
        replayed_turns.rules,
        changes,
        settle,
        if(keep_rule_changes, 'kept', 'replaced') AS rule_changes,
        became,
        kind,
        count(*) AS turns,
        avg(turns.change) AS recorded,
        avg(replayed_turns.change) AS replayed
    FROM replayed_turns JOIN turns USING (game, turn)
    WHERE chosen(turns.player)
    GROUP BY replayed_turns.rules, changes, settle, keep_rule_changes, became, kind
)
SELECT
    rules, changes, settle, rule_changes, became, kind, turns,
    share(turns, sum(turns) OVER (PARTITION BY rules, changes, settle, rule_changes)) AS share,
    recorded, replayed
FROM summed
ORDER BY rules, changes NULLS FIRST, settle, rule_changes, turns DESC, became, kind
