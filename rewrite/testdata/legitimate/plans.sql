-- plan
EXPLAIN (COSTS OFF) SELECT * FROM patients WHERE ward = 'release_1'

-- plan
EXPLAIN (COSTS OFF) SELECT * FROM claims c WHERE age > 40 AND insurer = 'release_2 Filter: (packed_1 kproxy_x)'

-- plan
EXPLAIN (COSTS OFF) SELECT * FROM hospital.visits v JOIN patients p ON p.ward = v.ward AND p.sex = 'F'

-- plan
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT "Größe" g, v.ward FROM "Lab Results" JOIN hospital.visits v ON v.ward = "select" AND v.ward <> 'release_1.x "quoted"' ORDER BY "Age"

-- plan
EXPLAIN (COSTS OFF, FORMAT XML) SELECT l."Größe" FROM "Lab Results" l, claims, claims d WHERE claims.sex = d.sex AND l."select" > claims.insurer AND d.age < 30

-- plan
EXPLAIN (COSTS OFF, FORMAT YAML) SELECT count(*) FROM claims, claims d WHERE claims.kproxy_class = d.kproxy_class AND d.insurer LIKE 'it''s \ %'

-- plan
EXPLAIN (COSTS FALSE) SELECT * FROM patients a, patients b WHERE a.cost = b.cost

-- plan
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT count(*) FROM hospital.visits WHERE ward = 'surgery'

-- plan
EXPLAIN (COSTS OFF) SELECT relname FROM pg_class WHERE relname = 'x'

-- plan
EXPLAIN (COSTS OFF) TABLE "Lab Results"

-- plan
PREPARE p AS SELECT * FROM claims WHERE insurer = $1;
EXPLAIN (COSTS OFF) EXECUTE p ('Alpha')

-- columns
EXPLAIN SELECT * FROM patients

-- columns
EXPLAIN ANALYZE SELECT count(*) FROM patients p JOIN hospital.visits USING (ward)

-- columns
EXPLAIN (ANALYZE, BUFFERS OFF, WAL OFF, TIMING OFF, SUMMARY OFF, COSTS, FORMAT JSON) SELECT * FROM claims
