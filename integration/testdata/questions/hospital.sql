-- Stays by quarter of the admission
SELECT date_trunc('quarter', admission_date)::date::text, count(*) FROM stays GROUP BY 1;

-- Persons treated for type 2 diabetes in 2025, by sex
SELECT sex, count(*) FROM persons WHERE person_id IN (SELECT person_id FROM stays JOIN diagnoses USING (stay_id)
  WHERE code = 'E11' AND admission_date >= '2025-01-01') GROUP BY 1;

-- Persons with heart failure in 2024, by age
SELECT (2024 - extract(year FROM birth_date)::int) / 20 * 20 || '+', count(DISTINCT p.person_id)
FROM persons p JOIN stays s ON s.person_id = p.person_id JOIN diagnoses d ON d.stay_id = s.stay_id
WHERE d.code = 'I50' AND s.admission_date >= '2024-01-01' AND s.admission_date < '2025-01-01' GROUP BY 1;

-- Stays with heart failure, with and without furosemide
SELECT CASE WHEN EXISTS (SELECT FROM prescriptions p WHERE p.stay_id = d.stay_id AND drug = 'furosemide')
  THEN 'with' ELSE 'without' END, count(*) FROM diagnoses d WHERE code = 'I50' GROUP BY 1;

-- Persons with an infarction in 2025, and those of them with bisoprolol within 90 days
WITH infarction AS (SELECT person_id, min(admission_date) AS on_day FROM stays JOIN diagnoses USING (stay_id)
  WHERE code = 'I21' AND admission_date >= '2025-01-01' GROUP BY 1)
SELECT 'all', count(*) FROM infarction UNION ALL
SELECT 'with bisoprolol', count(*) FROM infarction i WHERE EXISTS (SELECT FROM stays s JOIN prescriptions p USING (stay_id)
  WHERE s.person_id = i.person_id AND drug = 'bisoprolol' AND s.admission_date BETWEEN i.on_day AND i.on_day + 90);

-- Admissions within 30 days after another one of the same person, in a year
SELECT extract(year FROM admission_date)::text, count(*) FROM (SELECT admission_date,
    lag(admission_date) OVER (PARTITION BY person_id, extract(year FROM admission_date) ORDER BY admission_date) AS before FROM stays) s
WHERE admission_date - before <= 30 GROUP BY 1;

-- Average length of stay, by ward
SELECT ward, avg(days) FROM stays GROUP BY 1;

-- Cost of persons of each sex
SELECT sex, sum(cost) FROM persons JOIN stays USING (person_id) GROUP BY 1;

-- Persons by number of stays in 2024
SELECT least(n, 4)::text, count(*) FROM (SELECT person_id, count(*) AS n FROM stays
  WHERE admission_date >= '2024-01-01' AND admission_date < '2025-01-01' GROUP BY 1) s GROUP BY 1;

-- Persons with diabetes, hypertension, and both, in 2024
SELECT CASE WHEN diabetes AND hypertension THEN 'both' WHEN diabetes THEN 'diabetes' ELSE 'hypertension' END, count(*)
FROM (SELECT person_id, bool_or(code = 'E11') AS diabetes, bool_or(code = 'I10') AS hypertension
  FROM stays JOIN diagnoses USING (stay_id) WHERE code IN ('E11', 'I10') AND extract(year FROM admission_date) = 2024 GROUP BY 1) s GROUP BY 1;

-- Mean HbA1c, with and without diabetes
SELECT CASE WHEN EXISTS (SELECT FROM diagnoses d WHERE d.stay_id = l.stay_id AND code IN ('E10', 'E11')) THEN 'with' ELSE 'without' END, avg(value)
FROM labs l WHERE test = 'HbA1c' GROUP BY 1;

-- The ten drugs of most persons born before 1960, in 2024
SELECT drug, count(DISTINCT person_id) FROM persons JOIN stays USING (person_id) JOIN prescriptions USING (stay_id)
WHERE birth_date < '1960-01-01' AND extract(year FROM admission_date) = 2024 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10;

-- Days between one stay and the next one in 2024
SELECT 'mean', avg(next - admission_date) FROM (SELECT admission_date, lead(admission_date) OVER (PARTITION BY person_id ORDER BY admission_date) AS next
  FROM stays WHERE admission_date >= '2024-01-01' AND admission_date < '2025-01-01') s;

-- Persons with pneumonia in 2024, from October to March and from April to September
SELECT CASE WHEN extract(month FROM admission_date) BETWEEN 4 AND 9 THEN 'summer' ELSE 'winter' END, count(DISTINCT person_id)
FROM stays JOIN diagnoses USING (stay_id) WHERE code = 'J18' AND extract(year FROM admission_date) = 2024 GROUP BY 1;

-- Persons with hypertension in 2023 who had heart failure later
-- lost: rows of different years have no common key
SELECT 'all', count(DISTINCT a.person_id) FROM stays a JOIN diagnoses d ON d.stay_id = a.stay_id AND d.code = 'I10'
JOIN stays b ON b.person_id = a.person_id AND b.admission_date >= '2024-01-01' JOIN diagnoses e ON e.stay_id = b.stay_id AND e.code = 'I50'
WHERE a.admission_date < '2024-01-01';
