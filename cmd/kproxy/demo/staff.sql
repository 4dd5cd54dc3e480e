CREATE TABLE staff (
    staff_id   integer PRIMARY KEY,
    name       text NOT NULL,
    birth_date date NOT NULL,
    sex        text NOT NULL,
    postcode   text NOT NULL,
    ward       text NOT NULL REFERENCES wards,
    sick_days  integer NOT NULL
);
COMMENT ON TABLE staff IS 'one row a person';
INSERT INTO staff
SELECT i, 'Employee ' || i, date '1958-01-01' + i * 7919 % 17000, (ARRAY['F', 'F', 'M'])[1 + i % 3], lpad((10000 + i * 37 % 90 * 100)::text, 5, '0'),
       (SELECT array_agg(ward ORDER BY ward) FROM wards)[1 + i * 31 % (SELECT count(*) FROM wards)::int], i * i % 23
FROM generate_series(1, 1200) i;
ANALYZE staff;
