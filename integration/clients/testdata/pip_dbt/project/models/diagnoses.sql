SELECT v.diagnosis, n.name, count(*) AS visits, sum(v.cost) AS cost, min(v.admitted) AS first
FROM {{ ref('visits') }} v LEFT JOIN {{ ref('names') }} n USING (diagnosis)
GROUP BY 1, 2
