-- The database of the reading tests: a hospital that orders drugs, in the shape of
-- TPC-H. patients, claims, "Lab Results" and hospital.visits are protected, each in
-- another layout of the private store; the rest is there to be joined with.

CREATE TYPE mood AS ENUM ('low', 'fair', 'good');
CREATE DOMAIN percentage AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE TYPE address AS (city text, zip text);
CREATE SCHEMA hospital;
CREATE FUNCTION twice(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT 2 * $1';
CREATE FUNCTION label(mood) RETURNS text LANGUAGE sql STABLE AS $$SELECT upper($1::text)$$;

CREATE TABLE regions (region_id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE nations (nation_id integer PRIMARY KEY, name text NOT NULL, region_id integer NOT NULL REFERENCES regions);
CREATE TABLE suppliers (
    supplier_id integer PRIMARY KEY, name text NOT NULL, nation_id integer NOT NULL REFERENCES nations,
    balance numeric(12,2) NOT NULL, comment text, seat address);
CREATE TABLE drugs (
    drug_id integer PRIMARY KEY, name text NOT NULL, brand text NOT NULL, kind text NOT NULL,
    size integer NOT NULL, container text NOT NULL, price numeric(10,2) NOT NULL);
CREATE TABLE supplies (
    drug_id integer REFERENCES drugs, supplier_id integer REFERENCES suppliers, available integer NOT NULL,
    cost numeric(10,2) NOT NULL, PRIMARY KEY (drug_id, supplier_id));
CREATE TABLE wards (
    ward text PRIMARY KEY, building text NOT NULL, beds integer NOT NULL, nation_id integer REFERENCES nations,
    opened daterange, "Head Nurse" text);
CREATE TABLE icd10 (code text PRIMARY KEY, description text NOT NULL, chapter text NOT NULL, parent text);
CREATE TABLE orders (
    order_id integer PRIMARY KEY, ward text NOT NULL REFERENCES wards, status char(1) NOT NULL,
    total numeric(12,2) NOT NULL, ordered date NOT NULL, priority text NOT NULL, clerk text NOT NULL, comment text);
CREATE TABLE items (
    order_id integer NOT NULL REFERENCES orders, line integer NOT NULL, drug_id integer NOT NULL, supplier_id integer NOT NULL,
    quantity numeric(10,2) NOT NULL, price numeric(12,2) NOT NULL, discount numeric(4,2) NOT NULL, tax numeric(4,2) NOT NULL,
    returned char(1) NOT NULL, status char(1) NOT NULL, shipped date, committed date, received timestamptz, mode varchar(10),
    PRIMARY KEY (order_id, line));
CREATE TABLE samples (
    id integer PRIMARY KEY, tags text[], matrix integer[][], details jsonb, plain json, document xml, words tsvector,
    place point, address inet, network cidr, card macaddr, flags bit(4), bits varbit, raw bytea, amount money, uid uuid,
    small smallint, large bigint, ratio double precision, single real, ok boolean, at timestamp, seen timestamptz, clock time,
    clocktz timetz, span interval, letter "char", code char(3), title varchar(20), who name,
    years int4range, longs int8range, prices numrange, days daterange, stay tsrange, stays tstzrange,
    feeling mood, share percentage, home address);

CREATE TABLE patients (
    patient_id bigint PRIMARY KEY, name text NOT NULL, national_id text NOT NULL UNIQUE, birth_date date NOT NULL,
    sex text NOT NULL, postcode text NOT NULL, weight numeric(5,1), ward text NOT NULL REFERENCES wards,
    diagnosis text NOT NULL REFERENCES icd10, cost numeric(10,2) NOT NULL, mood mood, share percentage, tags text[],
    details jsonb, admitted timestamptz, los interval, remarks text, home address);
CREATE INDEX patients_ward ON patients (ward);
CREATE TABLE claims (
    claim_id integer PRIMARY KEY, holder text NOT NULL, age integer NOT NULL, sex text NOT NULL,
    insurer text NOT NULL, amount numeric(10,2) NOT NULL, approved boolean, filed date);
CREATE TABLE "Lab Results" (
    "Id" integer PRIMARY KEY, "Person" text NOT NULL, "Age" integer NOT NULL, "Größe" integer NOT NULL,
    "select" text NOT NULL, "Result ""A""" double precision);
CREATE TABLE hospital.visits (
    visit_id integer PRIMARY KEY, person text NOT NULL, age integer NOT NULL, sex text NOT NULL,
    visited date NOT NULL, postcode text NOT NULL, ward text NOT NULL, cost numeric(10,2) NOT NULL);

INSERT INTO regions SELECT i, (ARRAY['AFRICA','AMERICA','ASIA','EUROPE','MIDDLE EAST'])[i] FROM generate_series(1, 5) i;
INSERT INTO nations SELECT i, (ARRAY['BRAZIL','CANADA','CHINA','EGYPT','FRANCE','GERMANY','INDIA','JAPAN','KENYA','PERU'])[i], i % 5 + 1
  FROM generate_series(1, 10) i;
INSERT INTO suppliers SELECT i, format('Supplier#%s', lpad(i::text, 4, '0')), i % 10 + 1, (i * 7919 % 100000)::numeric / 10 - 999,
  CASE i % 4 WHEN 0 THEN 'Customer even Complaints' WHEN 1 THEN 'quick deposits' END, ROW('City' || i % 3, lpad(i::text, 5, '1'))::address
  FROM generate_series(1, 20) i;
INSERT INTO drugs SELECT i, (ARRAY['forest','green','almond','antique','blue'])[i % 5 + 1] || ' ' || (ARRAY['aspirin','statin','insulin'])[i % 3 + 1],
  'Brand#' || i % 5 + 1, (ARRAY['PROMO BRUSHED BRASS','STANDARD STEEL','ECONOMY TIN','MEDIUM POLISHED COPPER'])[i % 4 + 1], i % 20 + 1,
  (ARRAY['SM CASE','MED BOX','LG PACK'])[i % 3 + 1], 100 + i * 3.5 FROM generate_series(1, 40) i;
INSERT INTO supplies SELECT d, (d * 3 + s * 5) % 20 + 1, d * s * 11 % 500, (d * 17 + s * 29) % 1000 / 3.0
  FROM generate_series(1, 40) d, generate_series(0, 3) s;
INSERT INTO wards SELECT (ARRAY['cardiology','surgery','oncology','neurology','pediatrics','urology'])[i],
  (ARRAY['A','B','C'])[i % 3 + 1], 10 + i * 3, i + 1, daterange(date '1990-01-01' + i * 300, NULLIF(date '2020-01-01' + i * 100, '2020-07-19')),
  CASE WHEN i % 2 = 0 THEN 'Nurse ' || i END FROM generate_series(1, 6) i;
INSERT INTO icd10 SELECT (ARRAY['I10','I21','J18','K35','C50','G40','N20','S72','E11','M54'])[i],
  (ARRAY['Hypertension','Myocardial infarction','Pneumonia','Appendicitis','Breast cancer','Epilepsy','Kidney stone','Fracture of femur','Diabetes','Back pain'])[i],
  (ARRAY['IX','IX','X','XI','II','VI','XIV','XIX','IV','XIII'])[i], (ARRAY[NULL,'I10',NULL,NULL,NULL,NULL,NULL,NULL,'I10','S72'])[i] FROM generate_series(1, 10) i;
INSERT INTO orders SELECT i, (ARRAY['cardiology','surgery','oncology','neurology','pediatrics','urology'])[i % 6 + 1], (ARRAY['O','F','P'])[i % 3 + 1],
  (i * 7717 % 90000) / 10.0, date '2022-01-01' + i * 13 % 1000, (ARRAY['1-URGENT','2-HIGH','3-MEDIUM','4-NOT SPECIFIED','5-LOW'])[i % 5 + 1],
  'Clerk#' || i % 9, CASE WHEN i % 7 = 0 THEN 'special requests' ELSE 'regular accounts ' || i END FROM generate_series(1, 150) i;
INSERT INTO items SELECT o, l, (o * 7 + l * 3) % 40 + 1, ((o * 7 + l * 3) % 40 + 1) * 3 % 20 + 1, (o * l * 13) % 50 + 1, (o * 31 + l * 101) % 9000 / 7.0,
  (o + l) % 11 / 100.0, (o * l) % 9 / 100.0, (ARRAY['R','A','N'])[(o + l) % 3 + 1], (ARRAY['O','F'])[(o * l) % 2 + 1],
  date '2022-01-01' + (o * 13 % 1000) + l * 9, date '2022-01-01' + (o * 13 % 1000) + 30,
  timestamptz '2022-01-01 06:30+00' + ((o * 13 % 1000) + l * 11) * interval '1 day', (ARRAY['MAIL','SHIP','AIR','RAIL','TRUCK'])[(o + l) % 5 + 1]
  FROM generate_series(1, 150) o, generate_series(1, 4) l WHERE (o + l) % 4 <> 0;
INSERT INTO samples SELECT i, ARRAY['a' || i, 'b', NULL], ARRAY[[i, 2], [3, i * i]],
  jsonb_build_object('k', i, 'list', jsonb_build_array(1, i, 'x'), 'deep', jsonb_build_object('n', null, 't', i % 2 = 0)),
  json_build_object('z', i, 'a', 'text'), format('<r id="%s"><v>%s</v><v>x</v></r>', i, i * 2)::xml, to_tsvector('english', 'the quick brown foxes jumped ' || i),
  point(i, i / 2.0), ('10.0.' || i || '.1')::inet, '10.1.0.0/16', '08:00:2b:01:02:03', (i % 16)::bit(4), B'101' || (i % 2)::bit(1), decode(lpad(to_hex(i), 4, '0'), 'hex'),
  (i * 12.5)::numeric::money, ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, i, i * 10000000000, i / 3.0, i / 7.0, i % 3 = 0,
  timestamp '2024-02-28 23:59:59.5' + i * interval '1 hour', timestamptz '2024-03-31 00:30+00' + i * interval '30 min', time '08:15' + i * interval '7 min',
  timetz '08:15+02', i * interval '1 day 2:03:04', chr(64 + i)::"char", 'c' || i, 'Title ' || i, 'who' || i,
  int4range(i, i * 2), int8range(i, NULL), numrange(i / 2.0, i, '[]'), daterange(date '2024-01-01', date '2024-01-01' + i),
  tsrange(timestamp '2024-01-01', timestamp '2024-01-01' + i * interval '1 hour'), tstzrange('2024-01-01 00:00+00', timestamptz '2024-01-02 00:00+00' + i * interval '1 hour'),
  (ARRAY['low','fair','good'])[i % 3 + 1]::mood, i * 5, ROW('Town', '0' || i)::address FROM generate_series(1, 15) i;

INSERT INTO patients SELECT i, 'Name ' || i, 'ID' || lpad(i::text, 8, '0'), date '1930-01-01' + (i * 7919) % 27000, (ARRAY['F','M'])[i % 2 + 1],
  lpad((10000 + (i * 37) % 90 * 100 + i % 7)::text, 5, '0'), CASE WHEN i % 29 > 0 THEN 45 + (i * 13) % 60 + 0.5 END,
  (ARRAY['cardiology','surgery','oncology','neurology','pediatrics','urology'])[(i * 5 + i / 7) % 6 + 1],
  (ARRAY['I10','I21','J18','K35','C50','G40','N20','S72','E11','M54'])[(i * 3 + i / 11) % 10 + 1], (i * 6007 % 500000) / 100.0 + 50,
  (ARRAY['low','fair','good'])[i % 3 + 1]::mood, i % 101, ARRAY['t' || i % 4, 'ward'], jsonb_build_object('smoker', i % 5 = 0, 'score', i % 50, 'pets', jsonb_build_array('cat', i % 3)),
  timestamptz '2024-01-01 00:00+00' + i * interval '5 hours', (i % 20) * interval '1 day', CASE i % 6 WHEN 0 THEN 'stable, no complaints' WHEN 1 THEN '100% recovered_' WHEN 2 THEN 'Größere Operation' END,
  ROW('City ' || i % 4, NULL)::address FROM generate_series(1, 400) i;
INSERT INTO claims SELECT i, 'Holder ' || i, 18 + (i * 31) % 70, (ARRAY['F','M'])[i % 2 + 1], (ARRAY['Alpha','Beta','Gamma'])[i % 3 + 1], (i * 409 % 90000) / 10.0,
  CASE WHEN i % 5 > 0 THEN i % 2 = 0 END, date '2023-01-01' + i % 365 FROM generate_series(1, 240) i;
INSERT INTO "Lab Results" SELECT i, 'Person ' || i, 20 + (i * 17) % 60, 150 + (i * 7) % 50, (ARRAY['blood','urine','x-ray'])[i % 3 + 1], i / 3.0 FROM generate_series(1, 120) i;
INSERT INTO hospital.visits SELECT i, 'Person ' || i, 18 + (i * 23) % 70, (ARRAY['F','M'])[i % 2 + 1], date '2024-01-01' + (i * 11) % 300,
  lpad((20000 + (i * 53) % 80 * 100)::text, 5, '0'), (ARRAY['cardiology','surgery','oncology','neurology','pediatrics','urology'])[(i * 7) % 6 + 1], (i * 907 % 70000) / 100.0 FROM generate_series(1, 300) i;
ANALYZE;
