-- A shop of 2,000 customers, made up, the same each time.
SELECT setseed(0.42);

CREATE TABLE products (code text PRIMARY KEY, name text NOT NULL, price numeric(8, 2) NOT NULL);
INSERT INTO products VALUES
    ('BOOK', 'book', 14.90), ('LAMP', 'lamp', 49.00), ('PENS', 'set of pens', 7.50),
    ('DESK', 'desk', 249.00), ('SEAT', 'chair', 119.00), ('RUGS', 'rug', 89.00);

CREATE TABLE customers (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL, email text NOT NULL, birth_date date NOT NULL,
    postcode text NOT NULL, since date NOT NULL, newsletter boolean NOT NULL
);
INSERT INTO customers (name, email, birth_date, postcode, since, newsletter)
SELECT 'Customer ' || i, 'customer' || i || '@example.org', date '1940-01-01' + (random() * 24000)::int,
       lpad((10000 + floor(random() * 400))::text, 5, '0'), date '2015-01-01' + (random() * 3600)::int, random() < 0.4
FROM generate_series(1, 2000) i;

CREATE TABLE orders (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    customer_id integer NOT NULL REFERENCES customers, ordered date NOT NULL,
    postcode text NOT NULL, product text NOT NULL REFERENCES products, quantity integer NOT NULL
);
INSERT INTO orders (customer_id, ordered, postcode, product, quantity)
SELECT c.id, c.since + (random() * 300)::int, c.postcode,
       (ARRAY['BOOK', 'LAMP', 'PENS', 'DESK', 'SEAT', 'RUGS'])[1 + floor(random() * 6)::int], 1 + floor(random() * 4)::int
FROM customers c, generate_series(1, 3) ORDER BY random();
