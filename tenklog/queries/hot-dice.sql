-- title: Hot dice
-- about: How often each player set all dice aside, and what came of it.
-- player text: the player
-- turns count: turns with dice
-- hot_turns count: of these with hot dice
-- hot_rate share: hot turns among turns
-- hot_dice count: how often all dice were set aside
-- longest count: the most times in one turn
-- mean_posted mean: points banked in a hot turn
-- bust_rate share: hot turns lost in a bust
SELECT
    player,
    count(*) AS turns,
    count(*) FILTER (hot_dice > 0) AS hot_turns,
    share(hot_turns, count(*)) AS hot_rate,
    sum(turns.hot_dice)::BIGINT AS hot_dice,
    max(turns.hot_dice) AS longest,
    avg(posted) FILTER (turns.hot_dice > 0) AS mean_posted,
    share(count(*) FILTER (turns.hot_dice > 0 AND busts_running > 0), hot_turns) AS bust_rate
FROM turns
WHERE with_dice AND turn IS NOT NULL AND chosen(player)
GROUP BY player
ORDER BY hot_rate DESC NULLS LAST, player
