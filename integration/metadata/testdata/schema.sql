-- A database in which everything that must stay hidden has "canary" in its name, its
-- definition or its comment; 1237 is the number of patients.
CREATE ROLE canary_person;
CREATE ROLE clinic_admin;

CREATE TYPE mood AS ENUM ('calm', 'tense');
CREATE TYPE canary_mood AS ENUM ('canary_label');
CREATE DOMAIN amount AS numeric(10,2) CONSTRAINT amount_positive CHECK (VALUE >= 0);
CREATE DOMAIN canary_domain AS text CONSTRAINT canary_check CHECK (VALUE <> 'canary');
CREATE TYPE canary_pair AS (one int, two text);
CREATE COLLATION canary_collation (locale = 'C');
CREATE SCHEMA hospital AUTHORIZATION clinic_admin;
CREATE SCHEMA canary_schema AUTHORIZATION canary_person;
CREATE TABLE canary_schema.canary_table (canary_id int PRIMARY KEY);

CREATE TABLE icd10 (code text PRIMARY KEY, description text NOT NULL, chapter text NOT NULL);
COMMENT ON TABLE icd10 IS 'Codes of diagnoses';
COMMENT ON COLUMN icd10.code IS 'ICD-10';

CREATE TABLE patients (
  patient_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  canary_name text NOT NULL DEFAULT 'canary default',
  birth_date date NOT NULL,
  sex text,
  postcode varchar(10) NOT NULL CONSTRAINT canary_postcode CHECK (postcode <> 'canary'),
  weight integer,
  diagnosis text REFERENCES icd10 (code),
  cost amount,
  canary_state canary_mood,
  canary_note canary_domain COLLATE canary_collation
);
CREATE INDEX canary_index ON patients (canary_name) WHERE canary_name <> 'canary';
CREATE STATISTICS canary_statistics ON birth_date, sex FROM patients;
COMMENT ON TABLE patients IS 'canary comment';
COMMENT ON COLUMN patients.birth_date IS 'canary comment';
CREATE FUNCTION canary_function(canary_argument text DEFAULT 'canary') RETURNS text LANGUAGE sql AS $$ SELECT 'canary' $$;
CREATE FUNCTION canary_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER canary_trigger BEFORE INSERT ON patients FOR EACH ROW EXECUTE FUNCTION canary_trigger();
CREATE POLICY canary_policy ON patients USING (canary_name <> 'canary');
CREATE VIEW canary_view AS SELECT canary_name FROM patients;
CREATE VIEW patients_raw AS SELECT canary_name FROM patients;
CREATE MATERIALIZED VIEW canary_matview AS SELECT count(*) AS canary_count FROM patients;
CREATE SEQUENCE canary_sequence;
CREATE RULE canary_rule AS ON DELETE TO canary_view DO INSTEAD NOTHING;

CREATE TABLE hospital.visits (
  visit_id bigint PRIMARY KEY, canary_doctor text, day date NOT NULL, hours numeric(4,1), ward text, illness text
);

CREATE TABLE wards (
  ward text PRIMARY KEY,
  building text NOT NULL DEFAULT 'A',
  beds integer CONSTRAINT wards_beds CHECK (beds > 0),
  mood mood,
  price amount,
  icd text CONSTRAINT wards_icd REFERENCES icd10 (code),
  head bigint CONSTRAINT canary_head REFERENCES patients,
  tags text[],
  CONSTRAINT wards_place UNIQUE (building, ward)
);
CREATE INDEX wards_beds_idx ON wards (beds) WHERE beds > 10;
COMMENT ON TABLE wards IS 'Wards of the house';
COMMENT ON COLUMN wards.beds IS 'Beds in use';

CREATE TABLE persons (clinic integer, person integer, canary_name text UNIQUE, born date NOT NULL, PRIMARY KEY (clinic, person));
CREATE TABLE stays (
  stay bigint PRIMARY KEY, clinic integer NOT NULL, person integer NOT NULL, day date NOT NULL, ward text REFERENCES wards,
  FOREIGN KEY (clinic, person) REFERENCES persons ON DELETE CASCADE
);
CREATE TABLE hospital.orders (
  canary_id integer PRIMARY KEY, stay bigint NOT NULL REFERENCES stays, item text CONSTRAINT orders_item REFERENCES icd10 (code),
  canary_code text CONSTRAINT canary_item REFERENCES icd10 (code)
);

CREATE TABLE measures (id bigint, day date NOT NULL, value double precision, CONSTRAINT measures_pkey PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE measures_2024 PARTITION OF measures FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE VIEW large_wards AS SELECT ward, beds FROM wards WHERE beds > 20;
CREATE MATERIALIZED VIEW beds_by_building AS SELECT building, sum(beds) AS beds FROM wards GROUP BY 1;

INSERT INTO icd10 SELECT 'C' || i, 'code ' || i, 'chapter ' || i % 4 FROM generate_series(0, 19) i;
INSERT INTO patients (canary_name, birth_date, sex, postcode, weight, diagnosis, cost)
  SELECT 'canary ' || i, date '1940-01-01' + i * 20, (ARRAY['f', 'm'])[i % 2 + 1], (10000 + i % 50)::text, 50 + i % 60, 'C' || i % 20, i
  FROM generate_series(1, 1237) i;
INSERT INTO hospital.visits SELECT i, 'canary ' || i, date '2024-01-01' + i % 90, i % 12, 'ward ' || i % 3, 'C' || i % 20 FROM generate_series(1, 200) i;
INSERT INTO wards (ward, building, beds, mood) SELECT 'ward ' || i, 'A', 10 + i, 'calm' FROM generate_series(1, 3) i;
INSERT INTO persons SELECT i % 3, i, 'canary ' || i, date '1950-01-01' + i * 30 FROM generate_series(1, 90) i;
INSERT INTO stays SELECT i, i % 3, i, date '2024-01-01' + i, 'ward ' || 1 + i % 3 FROM generate_series(1, 90) i;
INSERT INTO hospital.orders SELECT i, i, 'C' || i % 20, 'C1' FROM generate_series(1, 90) i;
REFRESH MATERIALIZED VIEW beds_by_building;
-- Foreign keys that are not shown: from a column that is generalized, and to a table that is hidden.
ALTER TABLE patients ADD CONSTRAINT canary_generalized FOREIGN KEY (sex) REFERENCES icd10 (code) NOT VALID;
CREATE TABLE canary_codes (code text PRIMARY KEY);
ALTER TABLE hospital.orders ADD CONSTRAINT canary_hidden FOREIGN KEY (item) REFERENCES canary_codes NOT VALID;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
ANALYZE;
