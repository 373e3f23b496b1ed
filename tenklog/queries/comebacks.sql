-- title: Comebacks
-- about: Finished games turned round in the last turns: who was behind when they began, and won.
-- player text: the player
-- chances count: games in which the player was behind and had a last turn
-- comebacks count: of these won, alone or shared
-- comeback_rate share: comebacks among chances
-- largest points: the most points that a comeback was behind
-- mean_behind mean: points behind, of all chances
WITH began AS (
    SELECT game, min(turn) AS first FROM turns WHERE last GROUP BY game
),
leaders AS (
    SELECT turns.game, turns.total AS mark FROM turns JOIN began ON turns.game = began.game AND turns.turn = first - 1
),
chances AS (
    SELECT player, game, seat, arg_min(mark - total_before, turn) AS behind
    FROM turns JOIN leaders USING (game)
    WHERE last AND turn IS NOT NULL AND chosen(player)
    GROUP BY player, game, seat
)
SELECT
    chances.player,
    count(*) AS chances,
    count(*) FILTER (won) AS comebacks,
    share(comebacks, count(*)) AS comeback_rate,
    max(behind) FILTER (won) AS largest,
    avg(behind) AS mean_behind
FROM chances JOIN seats USING (game, seat)
WHERE behind > 0 AND won IS NOT NULL
GROUP BY chances.player
ORDER BY comebacks DESC, comeback_rate DESC NULLS LAST, chances.player
