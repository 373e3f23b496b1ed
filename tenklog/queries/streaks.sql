-- title: Streaks
-- about: The longest runs of each player: finished games won or not won, and turns within one game.
-- player text: the player
-- games count: finished games
-- won_in_a_row count: the most finished games won one after another, alone or shared
-- lost_in_a_row count: the most not won
-- now text: the run that goes on, such as 3 won
-- scoring_turns count: the most turns in a row that posted points, in one game
-- busts_in_a_row count: the most busts in a row, in one game
WITH ordered AS (
    SELECT
        player, won,
        row_number() OVER (PARTITION BY player ORDER BY begun, game, seat) AS n,
        sum(won::INT) OVER (PARTITION BY player ORDER BY begun, game, seat) AS wins
    FROM seats
    WHERE won IS NOT NULL AND chosen(player)
),
runs AS (
    SELECT player, won, count(*) AS length, max(n) AS ends
    FROM ordered
    GROUP BY player, won, if(won, n - wins, wins)
),
games AS (
    SELECT
        player,
        sum(length)::BIGINT AS games,
        coalesce(max(length) FILTER (won), 0) AS won_in_a_row,
        coalesce(max(length) FILTER (NOT won), 0) AS lost_in_a_row,
        arg_max(length || if(won, ' won', ' lost'), ends) AS now
    FROM runs
    GROUP BY player
),
thrown AS (
    SELECT player, max(scores_running) AS scoring_turns, max(busts_running) AS busts_in_a_row
    FROM turns
    WHERE turn IS NOT NULL AND chosen(player)
    GROUP BY player
)
SELECT player, coalesce(games, 0) AS games, won_in_a_row, lost_in_a_row, now, scoring_turns, busts_in_a_row
FROM games FULL JOIN thrown USING (player)
ORDER BY won_in_a_row DESC NULLS LAST, player
