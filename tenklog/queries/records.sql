-- title: Records
-- about: The best and the worst of all games; of equals the earliest.
-- record text: what it is the record of
-- value count: how much
-- player text: who holds it
-- game text: in which game
-- rules text: by which rules
-- begun time: when that game began
WITH holders AS (
    (SELECT 1 AS n, 'most points in a turn' AS record, posted AS value, player, game, rules, begun
    FROM turns WHERE turn IS NOT NULL AND posted > 0 AND chosen(player)
    ORDER BY posted DESC, begun NULLS LAST, game, first_seq, player LIMIT 1)
    UNION ALL
    (SELECT 2, 'most points lost in a bust', points, player, game, rules, begun
    FROM turns WHERE turn IS NOT NULL AND busts_running > 0 AND with_dice AND points > 0 AND chosen(player)
    ORDER BY points DESC, begun NULLS LAST, game, first_seq, player LIMIT 1)
    UNION ALL
    (SELECT 3, 'most rolls in a turn', rolls, player, game, rules, begun
    FROM turns WHERE turn IS NOT NULL AND rolls > 0 AND chosen(player)
    ORDER BY rolls DESC, begun NULLS LAST, game, first_seq, player LIMIT 1)
    UNION ALL
    (SELECT 4, 'most hot dice in a turn', hot_dice, player, game, rules, begun
    FROM turns WHERE turn IS NOT NULL AND hot_dice > 0 AND chosen(player)
    ORDER BY hot_dice DESC, begun NULLS LAST, game, first_seq, player LIMIT 1)
    UNION ALL
    (SELECT 5, 'highest total', total, player, game, rules, begun
    FROM seats WHERE won IS NOT NULL AND chosen(player)
    ORDER BY total DESC, begun NULLS LAST, game, player LIMIT 1)
    UNION ALL
    (SELECT 6, 'lowest total', total, player, game, rules, begun
    FROM seats WHERE won IS NOT NULL AND chosen(player)
    ORDER BY total, begun NULLS LAST, game, player LIMIT 1)
    UNION ALL
    (SELECT 7, 'fewest turns to win', turns, player, game, rules, begun
    FROM seats WHERE won AND chosen(player)
    ORDER BY turns, begun NULLS LAST, game, player LIMIT 1)
    UNION ALL
    (SELECT 8, 'most busts in a game', busts, player, game, rules, begun
    FROM seats WHERE busts > 0 AND chosen(player)
    ORDER BY busts DESC, begun NULLS LAST, game, player LIMIT 1)
    UNION ALL
    (SELECT 9, 'most busts in a row', busts_running, player, game, rules, begun
    FROM turns WHERE turn IS NOT NULL AND busts_running > 0 AND chosen(player)
    ORDER BY busts_running DESC, begun NULLS LAST, game, first_seq, player LIMIT 1)
)
SELECT record, value, player, game, rules, begun
FROM holders
ORDER BY n
