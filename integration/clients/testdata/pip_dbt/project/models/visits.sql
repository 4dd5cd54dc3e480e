{{ config(materialized='view') }}
SELECT visit, diagnosis, sex, cost, admitted, date_trunc('week', admitted)::date AS week FROM {{ source('release', 'patients') }}
