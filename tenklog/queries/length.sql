-- title: Game length
-- about: How long finished games take, by ruleset and number of players.
-- rules text: the ruleset
-- players count: seats at the table
-- games count: finished games
-- mean_rounds mean: rounds
-- median_rounds mean: half of the games took no more
-- fewest count: the fewest rounds
-- most count: the most rounds
-- mean_turns mean: turns of all players together
-- mean_minutes mean: minutes from the first event to the last, where times are known
SELECT
    rules,
    array_length(players) AS players,
    count(*) AS games,
    avg(rounds) AS mean_rounds,
    median(rounds) AS median_rounds,
    min(rounds) AS fewest,
    max(rounds) AS most,
    avg(turns) AS mean_turns,
    avg(date_diff('millisecond', begun, ended) / 1000) / 60 AS mean_minutes
FROM games
WHERE status = 'finished' AND chosen_game(games.players)
GROUP BY rules, array_length(players)
ORDER BY rules, players
