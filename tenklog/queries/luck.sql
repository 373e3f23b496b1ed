-- title: Luck
-- about: What the dice gave and what decisions took, in expected points a turn; games archived with --luck.
-- player text: the player
-- turns count: turns with dice
-- points mean: points of a turn, less a penalty for its bust
-- start mean: what a turn was worth at its start, best played
-- luck mean: what the rolls of a turn changed in that
-- error mean: standard error of luck: fair dice are more than two of them away from 0 one time in twenty
-- decisions mean: what the decisions of a turn lost; start + luck + decisions = points
-- adjusted mean: points less luck
-- sum mean: luck of all turns together
-- luckiest mean: what the luckiest roll gave
-- unluckiest mean: what the unluckiest roll took
-- chart: player luck
-- needs: luck
WITH rolled AS (
    SELECT player, max(luck) AS luckiest, min(luck) AS unluckiest
    FROM rolls
    WHERE luck IS NOT NULL AND chosen(player)
    GROUP BY player
),
taken AS (
    SELECT
        player,
        count(*) AS turns,
        avg(start) AS start,
        avg(luck) AS luck,
        stddev_samp(luck) / sqrt(count(*)) AS error,
        avg(decisions) AS decisions,
        sum(luck) AS sum
    FROM turns
    WHERE start IS NOT NULL AND chosen(player)
    GROUP BY player
)
SELECT
    player, turns, start + luck + decisions AS points, start, luck, error, decisions, start + decisions AS adjusted,
    sum, luckiest, unluckiest
FROM taken JOIN rolled USING (player)
ORDER BY luck DESC, player
