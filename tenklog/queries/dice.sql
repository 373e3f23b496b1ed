-- title: Dice
-- about: Each face of the dice that each player threw by hand, and whether that is more than chance.
-- player text: who threw
-- thrown count: dice thrown, by hand
-- ones count: of these, ones
-- twos count: twos
-- threes count: threes
-- fours count: fours
-- fives count: fives
-- sixes count: sixes
-- chi_square mean: Pearson's statistic against equal chances, 5 degrees of freedom
-- p p: the chance of a statistic at least so large with fair dice
-- p_holm p: p corrected after Holm for the number of players tested
-- chart: player ones twos threes fours fives sixes
WITH thrown_sets AS (
    SELECT player, roll_set, count(*) AS times
    FROM rolls
    WHERE NOT by_tool AND chosen(player)
    GROUP BY player, roll_set
),
faces AS (
    SELECT
        player,
        sum(times * (ones + twos + threes + fours + fives + sixes))::BIGINT AS thrown,
        sum(times * ones)::BIGINT AS ones,
        sum(times * twos)::BIGINT AS twos,
        sum(times * threes)::BIGINT AS threes,
        sum(times * fours)::BIGINT AS fours,
        sum(times * fives)::BIGINT AS fives,
        sum(times * sixes)::BIGINT AS sixes
    FROM thrown_sets JOIN dice_sets USING (roll_set)
    GROUP BY player
),
tested AS (
    SELECT
        *,
        (
            (ones - thrown / 6) ** 2 + (twos - thrown / 6) ** 2 + (threes - thrown / 6) ** 2
            + (fours - thrown / 6) ** 2 + (fives - thrown / 6) ** 2 + (sixes - thrown / 6) ** 2
        ) / (thrown / 6) AS chi_square,
        chi_square_5(chi_square) AS p
    FROM faces
),
ranked AS (
    SELECT *, (count(*) OVER () - row_number() OVER (ORDER BY p, player) + 1) * p AS raised
    FROM tested
)
SELECT
    player, thrown, ones, twos, threes, fours, fives, sixes, chi_square, p,
    least(1, max(raised) OVER (ORDER BY p, player)) AS p_holm
FROM ranked
ORDER BY player
