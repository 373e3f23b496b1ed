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
    SELECT
        player, decision, keep_loss, decision_loss,
        coalesce(count_if(keep_free), 0) AS keeps,
        if(decision_loss IS NULL, 0, coalesce(count_if(free), 0)) AS decisions
    FROM rolls
    WHERE aimed AND chosen(player)
    GROUP BY player, decision, keep_loss, decision_loss
),
lost AS (
    SELECT
        player,
        sum(keeps + decisions)::BIGINT AS decisions,
        sum(if(keep_loss > -1e-6, keeps, 0) + if(decision_loss > -1e-6, decisions, 0))::BIGINT AS best,
        coalesce(sum(keep_loss * keeps), 0) AS keeping,
        coalesce(sum(decision_loss * decisions) FILTER (decision = 'roll'), 0) AS rolling_on,
        coalesce(sum(decision_loss * decisions) FILTER (decision = 'bank'), 0) AS banking,
        sum(if(keep_loss <= -25, keeps, 0) + if(decision_loss <= -25, decisions, 0))::BIGINT AS blunders,
        min(least(if(keeps > 0, keep_loss, NULL), if(decisions > 0, decision_loss, NULL))) AS worst
    FROM counted
    GROUP BY player
),
taken AS (
    SELECT player, count(*) AS turns FROM turns WHERE aimed AND chosen(player) GROUP BY player
)
SELECT
    player, turns, coalesce(decisions, 0) AS decisions,
    share(best, decisions) AS best_rate,
    share(keeping + rolling_on + banking, decisions) AS loss,
    share(keeping + rolling_on + banking, turns) AS loss_per_turn,
    share(keeping, turns) AS keeping,
    share(rolling_on, turns) AS rolling_on,
    share(banking, turns) AS banking,
    coalesce(blunders, 0) AS blunders,
    worst
FROM taken LEFT JOIN lost USING (player)
ORDER BY loss_per_turn DESC NULLS LAST, player
