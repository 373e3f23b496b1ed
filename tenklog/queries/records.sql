-- title: Records
-- about: The best and the worst of all games; of equals the earliest.
-- record text: what it is the record of
-- value count: how much
-- player text: who holds it
-- game text: in which game
-- rules text: by which rules
-- begun time: when that game began
WITH tops AS MATERIALIZED (
    SELECT
        nullif(max(posted), 0) AS posted,
        nullif(max(points) FILTER (outcome IN ('bust', 'wiped-out') AND with_dice), 0) AS lost,
        nullif(max(rolls), 0) AS rolls,
        nullif(max(hot_dice), 0) AS hot_dice,
        nullif(max(busts_running), 0) AS busts_running
    FROM turns
    WHERE turn IS NOT NULL AND chosen(player)
),
seat_tops AS MATERIALIZED (
    SELECT
        max(total) FILTER (won IS NOT NULL) AS highest,
        min(total) FILTER (won IS NOT NULL) AS lowest,
        min(turns) FILTER (won) AS fewest,
        nullif(max(busts), 0) AS busts
    FROM seats
    WHERE chosen(player)
),
best_turns AS MATERIALIZED (
    SELECT turns.*, tops.posted AS top_posted, lost, tops.rolls AS top_rolls, tops.hot_dice AS top_hot,
        tops.busts_running AS top_running
    FROM turns, tops
    WHERE turn IS NOT NULL AND chosen(player) AND (
        turns.posted = tops.posted OR turns.rolls = tops.rolls OR turns.hot_dice = tops.hot_dice
        OR turns.busts_running = tops.busts_running
        OR (turns.points = lost AND outcome IN ('bust', 'wiped-out') AND with_dice)
    )
),
entries AS (
    SELECT 1 AS n, 'most points in a turn' AS record, posted AS value, first_seq, player, game, rules, begun
    FROM best_turns WHERE posted = top_posted
    UNION ALL
    SELECT 2, 'most points lost in a bust', points, first_seq, player, game, rules, begun
    FROM best_turns WHERE points = lost AND outcome IN ('bust', 'wiped-out') AND with_dice
    UNION ALL
    SELECT 3, 'most rolls in a turn', rolls, first_seq, player, game, rules, begun
    FROM best_turns WHERE rolls = top_rolls
    UNION ALL
    SELECT 4, 'most hot dice in a turn', hot_dice, first_seq, player, game, rules, begun
    FROM best_turns WHERE hot_dice = top_hot
    UNION ALL
    SELECT 5, 'highest total', total, 0, player, game, rules, begun
    FROM seats, seat_tops WHERE total = highest AND won IS NOT NULL AND chosen(player)
    UNION ALL
    SELECT 6, 'lowest total', total, 0, player, game, rules, begun
    FROM seats, seat_tops WHERE total = lowest AND won IS NOT NULL AND chosen(player)
    UNION ALL
    SELECT 7, 'fewest turns to win', turns, 0, player, game, rules, begun
    FROM seats, seat_tops WHERE turns = fewest AND won AND chosen(player)
    UNION ALL
    SELECT 8, 'most busts in a game', seats.busts, 0, player, game, rules, begun
    FROM seats, seat_tops WHERE seats.busts = seat_tops.busts AND chosen(player)
    UNION ALL
    SELECT 9, 'most busts in a row', busts_running, first_seq, player, game, rules, begun
    FROM best_turns WHERE busts_running = top_running
),
holders AS (
    SELECT
        n, record, value,
        min({
            untimed: begun IS NULL, begun: begun, game: game, seq: first_seq, player: player, rules: rules
        }) AS held
    FROM entries
    GROUP BY n, record, value
)
SELECT
    record, value, held.player AS player, held.game AS game, held.rules AS rules, held.begun AS begun
FROM holders
ORDER BY n
