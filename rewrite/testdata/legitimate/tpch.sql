-- ordered
SELECT sex, ward, sum(cost) AS sum_cost, avg(cost) AS avg_cost, sum(cost * (1 - share / 100.0)) AS sum_disc_price,
       sum(cost * (1 - share / 100.0) * 1.08) AS sum_charge, avg(share) AS avg_disc, count(*) AS count_order
FROM patients WHERE admitted <= timestamp '2024-12-01' - interval '90 day' GROUP BY sex, ward ORDER BY sex, ward

-- ordered
SELECT s.balance, s.name, n.name, d.drug_id, d.brand, s.comment
FROM drugs d, suppliers s, supplies ps, nations n, regions r
WHERE d.drug_id = ps.drug_id AND s.supplier_id = ps.supplier_id AND d.size < 15 AND d.kind LIKE '%BRASS' AND s.nation_id = n.nation_id
  AND n.region_id = r.region_id AND ps.cost = (
    SELECT min(ps2.cost) FROM supplies ps2, suppliers s2, nations n2, regions r2
    WHERE d.drug_id = ps2.drug_id AND s2.supplier_id = ps2.supplier_id AND s2.nation_id = n2.nation_id AND n2.region_id = r2.region_id)
ORDER BY s.balance DESC, n.name, s.name, d.drug_id LIMIT 100

-- ordered
SELECT i.order_id, sum(i.price * (1 - i.discount)) AS revenue, o.ordered, o.priority
FROM patients p, orders o, items i
WHERE p.diagnosis = 'I21' AND p.ward = o.ward AND i.order_id = o.order_id AND o.ordered < date '2023-03-15' AND i.shipped > date '2022-03-15'
GROUP BY i.order_id, o.ordered, o.priority ORDER BY revenue DESC, o.ordered, i.order_id LIMIT 10

-- ordered
SELECT priority, count(*) AS order_count FROM orders o
WHERE ordered >= date '2022-07-01' AND ordered < date '2022-07-01' + interval '30 month'
  AND EXISTS (SELECT * FROM items i WHERE i.order_id = o.order_id AND i.committed < i.received)
  AND EXISTS (SELECT * FROM patients p WHERE p.ward = o.ward AND p.cost > 1000)
GROUP BY priority ORDER BY priority

-- ordered
SELECT n.name, sum(i.price * (1 - i.discount)) AS revenue
FROM patients p, orders o, items i, suppliers s, nations n, regions r, wards w
WHERE p.ward = o.ward AND i.order_id = o.order_id AND i.supplier_id = s.supplier_id AND w.ward = p.ward AND s.nation_id = n.nation_id
  AND n.region_id = r.region_id AND r.name <> 'ASIA' AND o.ordered >= date '2022-01-01' AND o.ordered < date '2022-01-01' + interval '1' year
GROUP BY n.name ORDER BY revenue DESC, n.name

SELECT sum(price * discount) AS revenue FROM items
WHERE shipped >= date '2022-01-01' AND shipped < date '2022-01-01' + interval '1' year AND discount BETWEEN .06 - 0.01 AND .06 + 0.01 AND quantity < 24

-- ordered
SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue FROM (
  SELECT n1.name AS supp_nation, n2.name AS cust_nation, extract(year FROM i.shipped) AS l_year, i.price * (1 - i.discount) AS volume
  FROM suppliers s, items i, orders o, patients c, wards w, nations n1, nations n2
  WHERE s.supplier_id = i.supplier_id AND o.order_id = i.order_id AND c.ward = o.ward AND w.ward = c.ward AND s.nation_id = n1.nation_id
    AND w.nation_id = n2.nation_id AND ((n1.name = 'FRANCE' AND n2.name = 'GERMANY') OR (n1.name = 'GERMANY' AND n2.name = 'FRANCE') OR n1.name > n2.name)
    AND i.shipped BETWEEN date '2022-01-01' AND date '2023-12-31' AND c.sex = 'F') AS shipping
GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year

-- ordered
SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS mkt_share FROM (
  SELECT extract(year FROM o.ordered) AS o_year, i.price * (1 - i.discount) AS volume, n2.name AS nation
  FROM drugs d, suppliers s, items i, orders o, wards w, nations n1, nations n2, regions r
  WHERE d.drug_id = i.drug_id AND s.supplier_id = i.supplier_id AND i.order_id = o.order_id AND o.ward = w.ward AND w.nation_id = n1.nation_id
    AND n1.region_id = r.region_id AND s.nation_id = n2.nation_id AND o.ordered BETWEEN date '2022-01-01' AND date '2024-12-31'
    AND w.ward IN (SELECT ward FROM patients WHERE birth_date < '1960-01-01')) AS all_nations
GROUP BY o_year ORDER BY o_year

-- ordered
SELECT nation, o_year, sum(amount) AS sum_profit FROM (
  SELECT n.name AS nation, extract(year FROM o.ordered) AS o_year, i.price * (1 - i.discount) - ps.cost * i.quantity AS amount
  FROM drugs d, suppliers s, items i, supplies ps, orders o, nations n
  WHERE s.supplier_id = i.supplier_id AND ps.drug_id = i.drug_id AND d.drug_id = i.drug_id AND o.order_id = i.order_id
    AND s.nation_id = n.nation_id AND d.name LIKE '%green%') AS profit
GROUP BY nation, o_year ORDER BY nation, o_year DESC

-- ordered
SELECT p.ward, p.diagnosis, sum(p.cost) AS revenue, w.building, w."Head Nurse", max(c.description)
FROM patients p, wards w, icd10 c
WHERE p.ward = w.ward AND c.code = p.diagnosis AND p.admitted >= '2024-02-01' AND p.admitted < date '2024-02-01' + interval '3 month'
GROUP BY p.ward, p.diagnosis, w.building, w."Head Nurse" ORDER BY revenue DESC, p.ward, p.diagnosis LIMIT 20

-- ordered
SELECT ps.drug_id, sum(ps.cost * ps.available) AS value FROM supplies ps, suppliers s, nations n
WHERE ps.supplier_id = s.supplier_id AND s.nation_id = n.nation_id AND n.name IN ('GERMANY', 'CHINA', 'KENYA')
GROUP BY ps.drug_id HAVING sum(ps.cost * ps.available) > (SELECT sum(ps.cost * ps.available) * 0.001 FROM supplies ps, suppliers s WHERE ps.supplier_id = s.supplier_id)
ORDER BY value DESC, ps.drug_id

-- ordered
SELECT i.mode, sum(CASE WHEN o.priority = '1-URGENT' OR o.priority = '2-HIGH' THEN 1 ELSE 0 END) AS high_line_count,
  sum(CASE WHEN o.priority <> '1-URGENT' AND o.priority <> '2-HIGH' THEN 1 ELSE 0 END) AS low_line_count
FROM orders o, items i WHERE o.order_id = i.order_id AND i.mode IN ('MAIL', 'SHIP') AND i.committed < i.received AND i.shipped < i.committed
GROUP BY i.mode ORDER BY i.mode

-- ordered
SELECT c_count, count(*) AS custdist FROM (
  SELECT p.diagnosis, count(o.order_id) FROM patients p LEFT OUTER JOIN orders o ON p.ward = o.ward AND o.comment NOT LIKE '%special%requests%'
  GROUP BY p.diagnosis, p.sex) AS c_orders (diagnosis, c_count)
GROUP BY c_count ORDER BY custdist DESC, c_count DESC

SELECT 100.00 * sum(CASE WHEN d.kind LIKE 'PROMO%' THEN i.price * (1 - i.discount) ELSE 0 END) / sum(i.price * (1 - i.discount)) AS promo_revenue
FROM items i, drugs d WHERE i.drug_id = d.drug_id AND i.shipped >= date '2022-09-01' AND i.shipped < date '2022-09-01' + interval '1' month

-- ordered
WITH revenue (supplier_no, total_revenue) AS (
  SELECT supplier_id, sum(price * (1 - discount)) FROM items WHERE shipped >= date '2022-01-01' AND shipped < date '2022-01-01' + interval '9' month GROUP BY supplier_id)
SELECT s.supplier_id, s.name, total_revenue FROM suppliers s, revenue
WHERE s.supplier_id = supplier_no AND total_revenue = (SELECT max(total_revenue) FROM revenue) ORDER BY s.supplier_id

-- ordered
SELECT d.brand, d.kind, d.size, count(DISTINCT ps.supplier_id) AS supplier_cnt FROM supplies ps, drugs d
WHERE d.drug_id = ps.drug_id AND d.brand <> 'Brand#4' AND d.kind NOT LIKE 'MEDIUM POLISHED%' AND d.size IN (4, 14, 2, 4, 1, 3, 19, 9)
  AND ps.supplier_id NOT IN (SELECT supplier_id FROM suppliers WHERE comment LIKE '%Customer%Complaints%')
GROUP BY d.brand, d.kind, d.size ORDER BY supplier_cnt DESC, d.brand, d.kind, d.size

SELECT sum(i.price) / 7.0 AS avg_yearly FROM items i, drugs d
WHERE d.drug_id = i.drug_id AND d.brand = 'Brand#2' AND d.container = 'MED BOX'
  AND i.quantity < (SELECT 0.9 * avg(quantity) FROM items WHERE drug_id = d.drug_id)

-- ordered
SELECT p.ward, p.diagnosis, p.admitted, p.cost, sum(i.quantity) FROM patients p, orders o, items i
WHERE o.order_id IN (SELECT order_id FROM items GROUP BY order_id HAVING sum(quantity) > 100) AND p.ward = o.ward AND o.order_id = i.order_id AND p.sex = 'M'
GROUP BY p.ward, p.diagnosis, p.admitted, p.cost ORDER BY p.cost DESC, p.admitted LIMIT 100

SELECT sum(i.price * (1 - i.discount)) AS revenue FROM items i, drugs d
WHERE (d.drug_id = i.drug_id AND d.brand = 'Brand#1' AND d.container IN ('SM CASE', 'SM BOX') AND i.quantity >= 1 AND i.quantity <= 1 + 10 AND d.size BETWEEN 1 AND 5)
   OR (d.drug_id = i.drug_id AND d.brand = 'Brand#2' AND d.container IN ('MED BAG', 'MED BOX') AND i.quantity >= 10 AND i.quantity <= 10 + 10 AND d.size BETWEEN 1 AND 10)
   OR (d.drug_id = i.drug_id AND d.brand = 'Brand#3' AND d.container IN ('LG CASE', 'LG PACK') AND i.quantity >= 20 AND i.quantity <= 20 + 10 AND d.size BETWEEN 1 AND 15)

-- ordered
-- straight: SELECT s.name, (s.seat).city FROM public.suppliers s, nations n WHERE s.supplier_id IN ( SELECT ps.supplier_id FROM supplies ps WHERE ps.drug_id IN (SELECT drug_id FROM drugs WHERE name LIKE 'forest%') AND ps.available > (SELECT 0.5 * sum(quantity) FROM items WHERE drug_id = ps.drug_id AND supplier_id = ps.supplier_id)) OR s.nation_id = n.nation_id AND n.name = 'CANADA' GROUP BY s.supplier_id, s.name ORDER BY s.name
SELECT s.name, (s.seat).city FROM suppliers s, nations n
WHERE s.supplier_id IN (
    SELECT ps.supplier_id FROM supplies ps WHERE ps.drug_id IN (SELECT drug_id FROM drugs WHERE name LIKE 'forest%')
      AND ps.available > (SELECT 0.5 * sum(quantity) FROM items WHERE drug_id = ps.drug_id AND supplier_id = ps.supplier_id))
  OR s.nation_id = n.nation_id AND n.name = 'CANADA'
GROUP BY s.supplier_id, s.name ORDER BY s.name

-- ordered
SELECT s.name, count(*) AS numwait FROM suppliers s, items l1, orders o
WHERE s.supplier_id = l1.supplier_id AND o.order_id = l1.order_id AND o.status = 'F' AND l1.received > l1.committed
  AND EXISTS (SELECT * FROM items l2 WHERE l2.order_id = l1.order_id AND l2.supplier_id <> l1.supplier_id)
  AND NOT EXISTS (SELECT * FROM items l3 WHERE l3.order_id = l1.order_id AND l3.supplier_id <> l1.supplier_id AND l3.received > l3.committed + 40)
GROUP BY s.name ORDER BY numwait DESC, s.name LIMIT 100

-- ordered
SELECT cntrycode, count(*) AS numcust, sum(cost) AS totacctbal FROM (
  SELECT substring(postcode FROM 1 FOR 2) AS cntrycode, cost FROM patients p
  WHERE substring(postcode FROM 1 FOR 2) IN ('10', '11', '12', '13', '14', '15', '16')
    AND cost > (SELECT avg(cost) FROM patients WHERE cost > 0.00) AND NOT EXISTS (SELECT * FROM orders o WHERE o.ward = p.ward AND o.total > 8995)) AS custsale
GROUP BY cntrycode ORDER BY cntrycode
