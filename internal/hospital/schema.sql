-- The demonstration's database. patients is the table that kproxy protects;
-- icd10 and wards say nothing about anybody and are there to be joined with.

CREATE TABLE wards (
    ward     text PRIMARY KEY,
    building text NOT NULL,
    beds     integer NOT NULL CHECK (beds > 0)
);

CREATE TABLE icd10 (
    code        text PRIMARY KEY,
    description text NOT NULL,
    chapter     text NOT NULL
);

CREATE TABLE patients (
    patient_id     bigint PRIMARY KEY,
    name           text NOT NULL,
    national_id    text NOT NULL UNIQUE CHECK (national_id ~ '^[0-9]{10}$'),
    birth_date     date NOT NULL,
    sex            text NOT NULL CHECK (sex IN ('F', 'M')),
    postcode       text NOT NULL CHECK (postcode ~ '^[0-9]{5}$'),
    marital_status text NOT NULL,
    occupation     text NOT NULL,
    ward           text NOT NULL REFERENCES wards,
    admission_date date NOT NULL CHECK (admission_date >= birth_date),
    diagnosis      text NOT NULL REFERENCES icd10,
    cost           numeric(10,2) NOT NULL CHECK (cost > 0)
);

COMMENT ON TABLE patients IS 'one row an admission; no two rows are about the same person';
COMMENT ON COLUMN patients.national_id IS 'nine digits and a check digit (Luhn)';
COMMENT ON COLUMN patients.cost IS 'of the whole stay';
