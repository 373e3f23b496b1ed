-- title: Head to head
-- about: How each player did in the finished games with each other one.
-- player text: the player
-- opponent text: the other player
-- games count: finished games of both
-- ahead count: games that the player ended with a better place
-- behind count: games with a worse place
-- level count: games with the same place
-- ahead_rate share: ahead among all of them
-- wins count: games that the player won, alone or shared
-- opponent_wins count: games that the opponent won, alone or shared
-- mean_lead mean: the player's total less the opponent's, points
SELECT
    mine.player,
    theirs.player AS opponent,
    count(*) AS games,
    count(*) FILTER (mine.place < theirs.place) AS ahead,
    count(*) FILTER (mine.place > theirs.place) AS behind,
    count(*) FILTER (mine.place = theirs.place) AS level,
    share(ahead, games) AS ahead_rate,
    count(*) FILTER (mine.won) AS wins,
    count(*) FILTER (theirs.won) AS opponent_wins,
    avg(mine.total - theirs.total) AS mean_lead
FROM seats AS mine
JOIN seats AS theirs ON mine.game = theirs.game AND mine.player <> theirs.player
WHERE mine.won IS NOT NULL AND chosen(mine.player)
GROUP BY mine.player, theirs.player
ORDER BY mine.player, games DESC, opponent
