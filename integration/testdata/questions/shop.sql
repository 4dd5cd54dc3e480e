-- Revenue by quarter
SELECT date_trunc('quarter', ordered_on)::date::text, sum(total) FROM orders GROUP BY 1;

-- Customers with three orders or more in 2025, by region
SELECT left(postcode, 1), count(*) FROM customers WHERE customer_id IN (SELECT customer_id FROM orders
  WHERE ordered_on BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY 1 HAVING count(*) >= 3) GROUP BY 1;

-- Orders with books, with toys, and with both
SELECT CASE WHEN books AND toys THEN 'both' WHEN books THEN 'books' ELSE 'toys' END, count(*)
FROM (SELECT order_id, bool_or(category = 'books') AS books, bool_or(category = 'toys') AS toys FROM items GROUP BY 1) o WHERE books OR toys GROUP BY 1;

-- Customers who ordered again within 60 days after their first order of a year
-- lost: orders of one customer that are published with the same range are on the same day
WITH ordered AS (SELECT customer_id, ordered_on, min(ordered_on) OVER (PARTITION BY customer_id, extract(year FROM ordered_on)) AS first FROM orders)
SELECT extract(year FROM first)::text, count(DISTINCT customer_id) FROM ordered WHERE ordered_on > first AND ordered_on <= first + 60 GROUP BY 1;

-- Average order, by the customers' age
SELECT CASE WHEN birth_year > 1985 THEN 'below 40' WHEN birth_year > 1965 THEN '40 to 59' ELSE '60 and more' END, avg(total)
FROM customers JOIN orders USING (customer_id) GROUP BY 1;

-- Orders paid by card, by channel
SELECT channel, count(DISTINCT order_id) FROM orders JOIN payments USING (order_id) WHERE method = 'card' GROUP BY 1;

-- Orders that are not paid, by channel
SELECT channel, count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM payments p WHERE p.order_id = o.order_id) GROUP BY 1;

-- The products of most revenue in region 1
SELECT product, sum(quantity * price) FROM customers JOIN orders USING (customer_id) JOIN items USING (order_id)
WHERE postcode LIKE '1%' GROUP BY 1 ORDER BY 2 DESC LIMIT 5;

-- Customers who bought for the garden from March to May and for heating later in the year
SELECT 'all', count(DISTINCT a.customer_id) FROM orders a JOIN items g ON g.order_id = a.order_id AND g.category = 'garden'
JOIN orders b ON b.customer_id = a.customer_id AND extract(year FROM b.ordered_on) = extract(year FROM a.ordered_on)
JOIN items h ON h.order_id = b.order_id AND h.category = 'heating'
WHERE extract(month FROM a.ordered_on) BETWEEN 3 AND 5 AND extract(month FROM b.ordered_on) >= 9;

-- Customers of 2024 who ordered again in 2025
-- lost: rows of different years have no common key
SELECT 'all', count(DISTINCT a.customer_id) FROM orders a JOIN orders b USING (customer_id)
WHERE extract(year FROM a.ordered_on) = 2024 AND extract(year FROM b.ordered_on) = 2025;
