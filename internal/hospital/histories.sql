-- What happened to persons over the years, in tables that are joined by their keys.

CREATE TABLE persons (
    person_id   integer PRIMARY KEY,
    name        text NOT NULL,
    national_id text NOT NULL UNIQUE,
    birth_date  date NOT NULL,
    sex         text NOT NULL CHECK (sex IN ('F', 'M')),
    postcode    text NOT NULL
);

CREATE TABLE stays (
    stay_id        bigint PRIMARY KEY,
    person_id      integer NOT NULL REFERENCES persons ON DELETE CASCADE,
    admission_date date NOT NULL,
    days           integer NOT NULL CHECK (days > 0),
    ward           text NOT NULL,
    cost           numeric(10,2) NOT NULL
);

CREATE TABLE diagnoses (
    stay_id  bigint NOT NULL REFERENCES stays ON DELETE CASCADE,
    position smallint NOT NULL,
    code     text NOT NULL,
    PRIMARY KEY (stay_id, position)
);

CREATE TABLE prescriptions (
    prescription_id bigint PRIMARY KEY,
    stay_id         bigint NOT NULL REFERENCES stays ON DELETE CASCADE,
    day             integer NOT NULL CHECK (day > 0),
    drug            text NOT NULL
);

CREATE TABLE labs (
    lab_id  bigint PRIMARY KEY,
    stay_id bigint NOT NULL REFERENCES stays ON DELETE CASCADE,
    day     integer NOT NULL CHECK (day > 0),
    test    text NOT NULL,
    value   numeric(8,1) NOT NULL
);

CREATE INDEX ON stays (person_id);
CREATE INDEX ON prescriptions (stay_id);
CREATE INDEX ON labs (stay_id);

COMMENT ON COLUMN diagnoses.position IS '1 is what the person was admitted for';
COMMENT ON COLUMN prescriptions.day IS 'of the stay; 1 is the day of admission';
