{{ config(materialized='incremental', unique_key='week') }}
SELECT week, count(*) AS visits, avg(cost) AS cost FROM {{ ref('visits') }}
{% if is_incremental() %} WHERE week > (SELECT max(week) - 7 FROM {{ this }}) {% endif %}
GROUP BY 1
