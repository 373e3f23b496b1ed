-- title: Skill
-- about: What decisions cost, in expected points, in turns played for points; games archived with --luck.
-- player text: the player
-- turns count: turns with dice, but for those that had to catch the leader or could win at once
-- decisions count: decisions with more than one choice
-- best_rate share: the best choice among them
-- loss mean: points lost by one of them
-- loss_per_turn mean: points lost by the decisions of a turn
-- keeping mean: of these, lost by the dice kept
-- rolling_on mean: of these, lost by rolling on
-- banking mean: of these, lost by banking
-- blunders count: decisions that cost 25 points or more
-- worst mean: the most that one of them cost
-- chart: player loss_per_turn
-- needs: luck
WITH counted AS (
    SELECT player, decision, keep_loss, decision_loss, count_if(keep_free) AS keeps, count_if(free) AS decisions
    FROM rolls
    WHERE aimed AND chosen(player)
    GROUP BY player, decision, keep_loss, decision_loss
),
decided AS (
    SELECT player, 'keep' AS kind, keep_loss AS loss, keeps AS times FROM counted WHERE keeps > 0
    UNION ALL
    SELECT player, decision, decision_loss, decisions FROM counted WHERE decisions > 0 AND decision_loss IS NOT NULL
),
lost AS (
    SELECT
        player,
        sum(times)::BIGINT AS decisions,
        coalesce(sum(times) FILTER (loss > -1e-6), 0)::BIGINT AS best,
        sum(loss * times) AS loss,
        coalesce(sum(loss * times) FILTER (kind = 'keep'), 0) AS keeping,
        coalesce(sum(loss * times) FILTER (kind = 'roll'), 0) AS rolling_on,
        coalesce(sum(loss * times) FILTER (kind = 'bank'), 0) AS banking,
        coalesce(sum(times) FILTER (loss <= -25), 0)::BIGINT AS blunders,
        min(loss) AS worst
    FROM decided
    GROUP BY player
),
taken AS (
    SELECT player, count(*) AS turns FROM turns WHERE aimed AND chosen(player) GROUP BY player
)
SELECT
    player, turns, coalesce(decisions, 0) AS decisions,
    share(best, decisions) AS best_rate,
    share(loss, decisions) AS loss,
    share(loss, turns) AS loss_per_turn,
    share(keeping, turns) AS keeping,
    share(rolling_on, turns) AS rolling_on,
    share(banking, turns) AS banking,
    coalesce(blunders, 0) AS blunders,
    worst
FROM taken LEFT JOIN lost USING (player)
ORDER BY loss_per_turn DESC NULLS LAST, player
