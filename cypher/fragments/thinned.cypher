// Instants to show. Needs `times`, in order, all before or at $valid; leaves `instants`: those of $instants when they are given;
// else these and $valid. There are no more than $points: then they are evenly thinned, the first and the last among them.
// Of a long history there are fewer, since each of them reads it: about a million events in all.

WITH *, coll.max([3, coll.min([$points, 1000000 / (size(times) + 1)])]) AS most
WITH *, CASE
  WHEN $instants IS NOT NULL THEN $instants
  WHEN size(times) < most THEN coll.distinct(times + $valid)
  ELSE coll.distinct(
    [i IN range(0, most - 2) | times[toInteger(round(1.0 * i * (size(times) - 1) / (most - 2)))]] + $valid
  )
END AS instants
