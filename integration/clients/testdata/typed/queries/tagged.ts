import { sql } from '@pgtyped/runtime'

export const beds = sql`SELECT ward, beds FROM wards WHERE beds > $least! ORDER BY beds`
export const none = sql`SELECT beds FROM nowhere`
