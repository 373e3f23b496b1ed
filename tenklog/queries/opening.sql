-- title: Opening turns
-- about: How long it takes each player to post the first points of a game.
-- player text: the player
-- games count: games in which the player ended a turn
-- opened count: of these with points posted
-- open_rate share: opened among games
-- in_first_turn share: posted points in the first turn, among games
-- mean_turns mean: turns up to and with the one that opened
-- most_turns count: the most turns that it took
-- mean_points mean: points of the turn that opened
WITH attempts AS (
    SELECT
        player, game, seat,
        count(*) AS needed,
        max(posted) AS points
    FROM turns
    WHERE NOT opened AND turn IS NOT NULL AND chosen(player)
    GROUP BY player, game, seat
)
SELECT
    player,
    count(*) AS games,
    count(*) FILTER (points > 0) AS opened,
    share(opened, games) AS open_rate,
    share(count(*) FILTER (points > 0 AND needed = 1), games) AS in_first_turn,
    avg(needed) FILTER (points > 0) AS mean_turns,
    max(needed) FILTER (points > 0) AS most_turns,
    avg(points) FILTER (points > 0) AS mean_points
FROM attempts
GROUP BY player
ORDER BY mean_turns NULLS LAST, player
