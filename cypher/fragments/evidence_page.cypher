// Select a page of a list of maps. Needs `pieces`, in order, $skip and $limit; adds `page`, and `shown`, its first and
// last time, or an empty list.
// needs: pieces
// leaves: page, shown

WITH *, pieces[$skip..$skip + $limit] AS page
WITH *, CASE WHEN size(page) > 0 THEN [page[0].at, page[-1].at] ELSE [] END AS shown
