// Select a page of a list of maps.
// needs: pieces (in order)
// leaves: page, shown (first and last time of the page, or an empty list)

WITH *, pieces[$skip..$skip + $limit] AS page
WITH *, CASE WHEN size(page) > 0 THEN [page[0].at, page[-1].at] ELSE [] END AS shown
