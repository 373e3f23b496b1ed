-- title: Player profile
-- about: Everything about each player at a glance; name some with --player.
-- layout: tall
-- player text: the player
-- games count: games at the table, whatever became of them
-- finished count: of these finished
-- wins count: won, alone or shared
-- win_rate share: wins among finished games
-- mean_place mean: the mean place in finished games
-- mean_total mean: the mean total in finished games, points
-- turns count: turns that ended
-- points_per_turn mean: points banked in a turn
-- points_when_banked mean: points banked in a turn that banked any
-- bust_rate share: turns lost in a bust
-- lost_per_bust mean: points at stake that a bust with dice cost
-- rolls_per_turn mean: rolls in a turn with dice
-- hot_dice_rate share: turns with dice in which all dice were set aside at least once
-- best_turn points: the most points banked in one turn
-- steals count: turns begun with a steal
-- challenges count: turns in which an opponent was challenged
-- first_game time: when the first of the games began
-- last_game time: when the last of the games began
WITH played AS (
    SELECT
        player,
        count(*) AS games,
        count(won) AS finished,
        count(*) FILTER (won) AS wins,
        avg(place) FILTER (won IS NOT NULL) AS mean_place,
        avg(total) FILTER (won IS NOT NULL) AS mean_total,
        min(begun) AS first_game,
        max(begun) AS last_game
    FROM seats
    WHERE chosen(player)
    GROUP BY player
),
thrown AS (
    SELECT
        player,
        count(*) AS turns,
        avg(posted) AS points_per_turn,
        avg(nullif(posted, 0)) AS points_when_banked,
        share(count(nullif(busts_running, 0)), count(*)) AS bust_rate,
        avg(CASE WHEN busts_running > 0 AND with_dice THEN points END) AS lost_per_bust,
        avg(rolls) AS rolls_per_turn,
        share(count(nullif(hot_dice, 0)), count(hot_dice)) AS hot_dice_rate,
        max(posted) AS best_turn,
        count(*) FILTER (stolen) AS steals,
        count(challenged) AS challenges
    FROM turns
    WHERE chosen(player) AND turn IS NOT NULL
    GROUP BY player
)
SELECT
    player, games, finished, wins, share(wins, finished) AS win_rate, mean_place, mean_total,
    coalesce(turns, 0) AS turns, points_per_turn, points_when_banked, bust_rate, lost_per_bust, rolls_per_turn,
    hot_dice_rate, best_turn, coalesce(steals, 0) AS steals, coalesce(challenges, 0) AS challenges,
    first_game, last_game
FROM played LEFT JOIN thrown USING (player)
ORDER BY games DESC, player
