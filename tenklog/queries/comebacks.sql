-- title: Comebacks
-- about: Finished games turned round at the end: who was behind when their last turn came, and won.
-- player text: the player
-- chances count: games in which the player was behind when their first last or extra turn came
-- comebacks count: of these won, alone or shared
-- comeback_rate share: comebacks among chances
-- largest points: the most points that a comeback was behind
-- mean_behind mean: points behind, of all chances
WITH firsts AS (
    SELECT player, game, seat, arg_min(-lead, turn) AS behind
    FROM turns
    WHERE last AND turn IS NOT NULL AND chosen(player)
    GROUP BY player, game, seat
)
SELECT
    firsts.player,
    count(*) AS chances,
    count(*) FILTER (won) AS comebacks,
    share(count(*) FILTER (won), count(*)) AS comeback_rate,
    max(behind) FILTER (won) AS largest,
    avg(behind) AS mean_behind
FROM firsts JOIN seats USING (game, seat)
WHERE behind > 0 AND won IS NOT NULL
GROUP BY firsts.player
ORDER BY comebacks DESC, comeback_rate DESC NULLS LAST, firsts.player
