-- title: Points per turn
-- about: How turns end: busts and other zeros, and the points banked, in bands.
-- from_points points: points posted, from this on
-- below_points points: and below this; unknown for the last band
-- turns count: turns
-- rate share: among all turns
-- chart: from_points rate
WITH banded AS (
    SELECT
        CASE WHEN posted = 0 THEN 0 WHEN posted < 100 THEN 1 ELSE least(posted // 100 * 100, 2000) END AS from_points,
        CASE WHEN posted = 0 THEN 1 WHEN posted < 2000 THEN (posted // 100 + 1) * 100 END AS below_points
    FROM turns
    WHERE turn IS NOT NULL AND chosen(player)
)
SELECT from_points, below_points, count(*) AS turns, count(*) / sum(count(*)) OVER () AS rate
FROM banded
GROUP BY from_points, below_points
ORDER BY from_points
