SELECT chapter, count(*) AS patients, round(avg(cost), 2) AS average_cost
FROM patients JOIN icd10 ON code = diagnosis
GROUP BY chapter
ORDER BY patients DESC, chapter
