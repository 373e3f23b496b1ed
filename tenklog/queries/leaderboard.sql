-- title: Leaderboard
-- about: Who wins, and how everybody plays.
-- player text: the player
-- games count: finished games
-- wins count: of these won, alone or shared
-- shared count: of the wins, those that are shared
-- win_rate share: wins among finished games
-- low share: lower end of the Wilson 95% interval of the win rate
-- high share: upper end of it
-- abandoned count: games that were given up
-- turns count: turns that ended, of all games
-- points_per_turn mean: points banked in a turn
-- bust_rate share: turns lost in a bust
-- best_turn points: the most points banked in one turn
-- chart: player points_per_turn
WITH played AS (
    SELECT
        player,
        count(won) AS games,
        count(*) FILTER (won) AS wins,
        count(*) FILTER (shared) AS shared,
        count(*) FILTER (status = 'abandoned') AS abandoned
    FROM seats
    WHERE chosen(player)
    GROUP BY player
),
thrown AS (
    SELECT
        player,
        count(*) AS turns,
        avg(posted) AS points_per_turn,
        share(count(*) FILTER (busts_running > 0), count(*)) AS bust_rate,
        max(posted) AS best_turn
    FROM turns
    WHERE chosen(player) AND turn IS NOT NULL
    GROUP BY player
)
SELECT
    player, games, wins, shared,
    share(wins, games) AS win_rate, wilson_low(wins, games) AS low, wilson_high(wins, games) AS high,
    abandoned, coalesce(turns, 0) AS turns, points_per_turn, bust_rate, best_turn
FROM played LEFT JOIN thrown USING (player)
ORDER BY win_rate DESC NULLS LAST, wins DESC, player
