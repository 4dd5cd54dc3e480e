SELECT * FROM {{ ref('diagnoses') }} WHERE visits < 4
