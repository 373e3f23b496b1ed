-- title: Rulesets compared
-- about: What each ruleset makes of the game.
-- rules text: the ruleset
-- games count: games, whatever became of them
-- finished count: of these finished
-- shared_wins count: of these with more than one winner
-- mean_rounds mean: rounds of a finished game
-- winning_total mean: the mean total of a winner, points
-- turns count: turns that ended
-- points_per_turn mean: points banked in a turn
-- bust_rate share: turns lost in a bust
-- hot_dice_rate share: turns with dice in which all dice were set aside at least once
-- scoreless share: turns that posted nothing, busts included
WITH played AS (
    SELECT
        rules,
        count(*) AS games,
        count(*) FILTER (status = 'finished') AS finished,
        count(*) FILTER (array_length(winners) > 1) AS shared_wins,
        avg(rounds) FILTER (status = 'finished') AS mean_rounds
    FROM games
    WHERE chosen_game(players)
    GROUP BY rules
),
won AS (
    SELECT rules, avg(total) AS winning_total FROM seats WHERE won AND chosen(player) GROUP BY rules
),
thrown AS (
    SELECT
        rules,
        count(*) AS turns,
        avg(posted) AS points_per_turn,
        share(count(*) FILTER (busts_running > 0), count(*)) AS bust_rate,
        share(count(*) FILTER (hot_dice > 0), count(hot_dice)) AS hot_dice_rate,
        share(count(*) FILTER (posted = 0), count(*)) AS scoreless
    FROM turns
    WHERE turn IS NOT NULL AND chosen(player)
    GROUP BY rules
)
SELECT
    rules, games, finished, shared_wins, mean_rounds, winning_total, coalesce(turns, 0) AS turns, points_per_turn,
    bust_rate, hot_dice_rate, scoreless
FROM played LEFT JOIN won USING (rules) LEFT JOIN thrown USING (rules)
ORDER BY games DESC, rules
