-- title: Bust rate
-- about: How often a roll of so many dice lost the turn, beside the exact odds under the rules of each roll.
-- dice count: dice thrown
-- rolls count: rolls
-- busts count: of these lost, wipeouts included
-- bust_rate share: busts among rolls
-- low share: lower end of the Wilson 95% interval of the bust rate
-- high share: upper end of it
-- odds share: the mean of the exact chances of these rolls to bust
-- chart: dice bust_rate odds
SELECT
    thrown AS dice,
    count(*) AS rolls,
    count(*) FILTER (result IN ('bust', 'wiped-out')) AS busts,
    share(busts, count(*)) AS bust_rate,
    wilson_low(busts, count(*)) AS low,
    wilson_high(busts, count(*)) AS high,
    avg(bust_chance) AS odds
FROM rolls
WHERE chosen(player)
GROUP BY thrown
ORDER BY thrown
