// Select the times of a time series. More than $points are evenly thinned, keeping the first and the last. A long
// history is thinned further, because each time reads all of it; the limit is about 100,000 events in total.
// needs: times (in order, none after $valid)
// leaves: instants

WITH *, coll.max([3, coll.min([$points, 100000 / (size(times) + 1)])]) AS most
WITH *, CASE
  WHEN $instants IS NOT NULL THEN $instants
  WHEN size(times) < most THEN coll.distinct(times + $valid)
  ELSE coll.distinct(
    [i IN range(0, most - 2) | times[toInteger(round(1.0 * i * (size(times) - 1) / (most - 2)))]] + $valid
  )
END AS instants
