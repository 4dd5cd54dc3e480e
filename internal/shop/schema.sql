-- A mail-order shop.

CREATE TABLE customers (
    customer_id bigint PRIMARY KEY,
    email       text NOT NULL UNIQUE,
    birth_year  integer NOT NULL,
    postcode    text NOT NULL
);

CREATE TABLE orders (
    order_id    bigint PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES customers ON DELETE CASCADE,
    ordered_on  date NOT NULL,
    channel     text NOT NULL CHECK (channel IN ('app', 'phone', 'web')),
    total       numeric(10,2) NOT NULL
);

CREATE TABLE items (
    order_id bigint NOT NULL REFERENCES orders ON DELETE CASCADE,
    line     smallint NOT NULL,
    product  text NOT NULL,
    category text NOT NULL,
    quantity integer NOT NULL CHECK (quantity > 0),
    price    numeric(10,2) NOT NULL,
    PRIMARY KEY (order_id, line)
);

CREATE TABLE payments (
    payment_id bigint PRIMARY KEY,
    order_id   bigint NOT NULL REFERENCES orders ON DELETE CASCADE,
    method     text NOT NULL,
    day        integer NOT NULL,
    amount     numeric(10,2) NOT NULL
);

CREATE INDEX ON orders (customer_id);
CREATE INDEX ON payments (order_id);

COMMENT ON COLUMN payments.day IS 'days after the order';
