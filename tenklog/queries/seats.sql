-- title: Seat advantage
-- about: Whether it pays to throw first: wins by seat, beside equal chances.
-- seat count: the seat, from 1
-- games count: finished games in which somebody sat there
-- wins count: of these won by that seat, alone or shared
-- win_rate share: wins among games
-- low share: lower end of the Wilson 95% interval of the win rate
-- high share: upper end of it
-- equal share: the mean of 1 in as many as sat at the table
-- mean_total mean: the mean total, points
-- chart: seat win_rate equal
SELECT
    seat,
    count(*) AS games,
    count(*) FILTER (won) AS wins,
    share(wins, games) AS win_rate,
    wilson_low(wins, games) AS low,
    wilson_high(wins, games) AS high,
    avg(1.0 / players) AS equal,
    avg(total) AS mean_total
FROM seats
WHERE won IS NOT NULL AND chosen(player)
GROUP BY seat
ORDER BY seat
