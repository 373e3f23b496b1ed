-- title: Decisions
-- about: Bank or roll on, by dice left and points at stake, where the rules allowed both.
-- dice_left count: dice that the next roll would have
-- from_points points: points at stake, from this on
-- below_points points: and below this; unknown for the last band
-- decisions count: decisions
-- banked count: of these banked
-- rolled_on count: of these rolled on
-- bank_rate share: banked among decisions
WITH counted AS (
    SELECT dice_left, points, decision, count(*) AS times
    FROM rolls
    WHERE free AND decision IS NOT NULL AND chosen(player)
    GROUP BY dice_left, points, decision
)
SELECT
    dice_left,
    least(points // 250 * 250, 1500) AS from_points,
    CASE WHEN from_points < 1500 THEN from_points + 250 END AS below_points,
    sum(times)::BIGINT AS decisions,
    coalesce(sum(times) FILTER (decision = 'bank'), 0)::BIGINT AS banked,
    coalesce(sum(times) FILTER (decision = 'roll'), 0)::BIGINT AS rolled_on,
    share(banked, decisions) AS bank_rate
FROM counted
GROUP BY dice_left, from_points
ORDER BY dice_left, from_points
