-- One protected table with nearly every type that PostgreSQL has, and each null in
-- some rows; visit numbers the rows and is published, so that clients can sort them.
CREATE TYPE mood AS ENUM ('low', 'fair', 'good');
CREATE DOMAIN percentage AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE TYPE address AS (city text, zip text);
CREATE TABLE wards (ward text PRIMARY KEY, beds integer NOT NULL, "Größe" integer);
CREATE TABLE patients (
    patient_id bigint PRIMARY KEY, name text NOT NULL, birth_date date NOT NULL, sex text NOT NULL,
    postcode text NOT NULL, weight numeric(5,1), diagnosis text NOT NULL, visit integer NOT NULL, cost numeric(10,2),
    alive boolean, small smallint, large bigint, ratio double precision, single real,
    code char(3), title varchar(20), letter "char", raw bytea, uid uuid, details jsonb, plain json,
    tags text[], matrix integer[], admitted timestamptz, left_at timestamp, day date, clock time, clocktz timetz, span interval,
    address inet, network cidr, card macaddr, flags bit(4), bits varbit, amount money,
    years int4range, stay tstzrange, mood mood, share percentage, home address, place point, document xml, remarks text);
INSERT INTO wards VALUES ('cardiology', 10, 1), ('surgery', 20, NULL), ('Größe', 30, 3), ('日本', 40, 4);
INSERT INTO patients SELECT i, 'Name ' || i, date '1930-01-01' + i * 7919 % 27000, (ARRAY['F','M'])[i % 2 + 1],
    lpad((10000 + i * 37 % 90 * 100)::text, 5, '0'), CASE WHEN i % 29 > 0 THEN 45 + i * 13 % 60 + 0.5 END,
    (ARRAY['I10','I21','J18','K35','C50','G40','N20','S72'])[i * 3 % 8 + 1], i, CASE WHEN i % 17 > 0 THEN i * 6007 % 500000 / 100.0 END
  FROM generate_series(1, 500) i;
UPDATE patients SET
    alive = visit % 3 = 0, small = visit - 250, large = visit * 10000000001, ratio = visit / 3.0, single = visit / 7.0,
    code = 'c' || visit % 10, title = 'Title ' || visit, letter = chr(65 + visit % 26)::"char", raw = decode(lpad(to_hex(visit), 4, '0'), 'hex') || '\x0027ff',
    uid = ('00000000-0000-4000-8000-' || lpad(visit::text, 12, '0'))::uuid,
    details = jsonb_build_object('k', visit, 'list', jsonb_build_array(1, visit, 'ß'), 'deep', jsonb_build_object('n', null, 't', visit % 2 = 0)),
    plain = json_build_object('z', visit, 'a', 'text'), tags = ARRAY['a' || visit, 'b"\,{}', NULL], matrix = ARRAY[[visit, 2], [3, visit * visit]],
    admitted = timestamptz '2024-03-31 00:30+00' + visit * interval '31 min 1.000001 s', left_at = timestamp '2024-02-28 23:59:59.5' + visit * interval '1 hour',
    day = date '2024-02-28' + visit, clock = time '08:15' + visit * interval '7 min', clocktz = timetz '08:15+02', span = visit * interval '1 mon 1 day 2:03:04.5',
    address = ('10.0.' || visit % 256 || '.1')::inet, network = '10.1.0.0/16', card = '08:00:2b:01:02:03', flags = (visit % 16)::bit(4), bits = B'101' || (visit % 2)::bit(1),
    amount = (visit * 12.5)::numeric::money, years = int4range(visit, visit * 2),
    stay = tstzrange('2024-01-01 00:00+00', timestamptz '2024-01-02 00:00+00' + visit * interval '1 hour'),
    mood = (ARRAY['low', 'fair', 'good'])[visit % 3 + 1]::mood, share = visit % 101, home = ROW('City ' || visit % 4, NULL)::address,
    place = point(visit, visit / 2.0), document = format('<r id="%s"><v>ü</v></r>', visit)::xml,
    remarks = (ARRAY['stable, "quoted"', E'tab\t newline\n back\\slash', 'Größe 日本語 🩺', ''])[visit % 4 + 1]
  WHERE visit % 7 > 0;
UPDATE patients SET ratio = 'NaN', single = 'Infinity', day = 'infinity', left_at = '-infinity' WHERE visit = 20;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
ANALYZE;
