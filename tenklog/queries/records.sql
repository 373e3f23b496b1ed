-- title: Records
-- about: The best and the worst of all games; of equals the earliest.
-- record text: what it is the record of
-- value count: how much
-- player text: who holds it
-- game text: in which game
-- rules text: by which rules
-- begun time: when that game began
WITH entries AS (
    SELECT 1 AS n, 'most points in a turn' AS record, posted AS value, posted AS rank, player, game, rules, begun
    FROM turns WHERE posted > 0 AND chosen(player)
    UNION ALL
    SELECT 2, 'most points lost in a bust', points, points, player, game, rules, begun
    FROM turns WHERE outcome IN ('bust', 'wiped-out') AND with_dice AND points > 0 AND chosen(player)
    UNION ALL
    SELECT 3, 'most rolls in a turn', rolls, rolls, player, game, rules, begun
    FROM turns WHERE rolls > 0 AND chosen(player)
    UNION ALL
    SELECT 4, 'most hot dice in a turn', hot_dice, hot_dice, player, game, rules, begun
    FROM turns WHERE hot_dice > 0 AND chosen(player)
    UNION ALL
    SELECT 5, 'highest total', total, total, player, game, rules, begun
    FROM seats WHERE won IS NOT NULL AND chosen(player)
    UNION ALL
    SELECT 6, 'lowest total', total, -total, player, game, rules, begun
    FROM seats WHERE won IS NOT NULL AND chosen(player)
    UNION ALL
    SELECT 7, 'fewest turns to win', turns, -turns, player, game, rules, begun
    FROM seats WHERE won AND chosen(player)
    UNION ALL
    SELECT 8, 'most busts in a game', busts, busts, player, game, rules, begun
    FROM seats WHERE busts > 0 AND chosen(player)
    UNION ALL
    SELECT 9, 'most busts in a row', busts_running, busts_running, player, game, rules, begun
    FROM turns WHERE busts_running > 0 AND chosen(player)
),
best AS (
    SELECT n, max(rank) AS rank FROM entries GROUP BY n
),
holders AS (
    SELECT
        n, record, value,
        min({begun: coalesce(begun, 'infinity'::TIMESTAMP), game: game, player: player, rules: rules}) AS held
    FROM entries JOIN best USING (n, rank)
    GROUP BY n, record, value
)
SELECT
    record, value, held.player AS player, held.game AS game, held.rules AS rules,
    nullif(held.begun, 'infinity'::TIMESTAMP) AS begun
FROM holders
ORDER BY n
