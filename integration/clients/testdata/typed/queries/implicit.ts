import { sql } from './unused'

export const title = sql(`SELECT title, details->'k' AS key FROM patients WHERE visit = $visit`)
