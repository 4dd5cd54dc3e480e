{{ config(materialized='materialized_view') }}
SELECT w.ward, w.beds, p.visit, p.tags, p.details FROM {{ source('release', 'wards') }} w JOIN {{ source('release', 'patients') }} p ON p.visit = w.beds
