/* @name ward */
SELECT * FROM wards WHERE ward = :ward!;

/* @name types */
SELECT * FROM patients WHERE visit = :visit;

/*
  @name found
  @param moods -> (...)
  @param keys -> ((visit, diagnosis)...)
*/
SELECT visit, mood, tags FROM patients WHERE mood IN :moods OR (visit, diagnosis) IN (:keys) ORDER BY visit LIMIT :most;

/* @name grouped */
SELECT diagnosis, count(*) AS "n!", avg(cost) AS average, max(p.visit) AS "last?", home FROM patients p WHERE cost > :cost::numeric GROUP BY diagnosis, home ORDER BY 1, 5 LIMIT 3;

/* @name unknownColumn */
SELECT nothing FROM wards;

/* @name unknownTable */
SELECT 1 FROM nobody WHERE a = :a;

/* @name unknownFunction */
SELECT nobody(ward) FROM wards;

/* @name mistyped */
SELECT beds FROM wards WHERE beds = 'many';

/* @name writing */
UPDATE wards SET beds = :beds WHERE ward = 'none';
