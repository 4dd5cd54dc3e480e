// Drizzle: its query builder, and what drizzle-kit finds in the catalogs.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { and, asc, avg, count, desc, eq, gt, inArray, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { boolean, integer, jsonb, numeric, pgTable, text } from 'drizzle-orm/pg-core'
import pg from 'pg'

import { connection, step } from './report.mjs'

const patients = pgTable('patients', { visit: integer().primaryKey(), diagnosis: text(), cost: numeric(), details: jsonb(), alive: boolean(), tags: text().array() })
const wards = pgTable('wards', { ward: text().primaryKey(), beds: integer(), size: integer('Größe') })
const pool = new pg.Pool({ ...connection, max: 2 })
const db = drizzle(pool, { schema: { patients, wards } })

await step('all', () => db.select().from(wards).orderBy(asc(wards.ward)))
await step('relational', () => db.query.patients.findMany({ where: (p, { lt }) => lt(p.visit, 4), orderBy: (p) => desc(p.visit), columns: { visit: true, tags: true } }))
await step('where', () => db.select({ visit: patients.visit, of: sql`${patients.details}->>'k'` }).from(patients).where(and(inArray(patients.diagnosis, ['I10', 'J18']), gt(patients.cost, '4000'))).orderBy(patients.visit).limit(5).offset(2))
await step('grouped', () => db.select({ diagnosis: patients.diagnosis, n: count(), cost: avg(patients.cost) }).from(patients).groupBy(patients.diagnosis).orderBy(patients.diagnosis))
await step('prepared', async () => {
  const one = db.select({ visit: patients.visit, alive: patients.alive }).from(patients).where(eq(patients.visit, sql.placeholder('visit'))).prepare('one')
  return [await one.execute({ visit: 3 }), await one.execute({ visit: 4 })]
})
await step('transaction', () => db.transaction(async (tx) => [await tx.$count(patients), await tx.$count(wards)], { isolationLevel: 'repeatable read', accessMode: 'read only' }))
await step('write', () => db.insert(wards).values({ ward: 'new', beds: 1 }))
await step('error', () => db.execute(sql`SELECT nothing FROM wards`))
await pool.end()

await step('introspected', async () => {
  // Both ways are taken at the same time, in one folder.
  const out = `out-${connection.port}`
  await promisify(execFile)('npx', ['drizzle-kit', 'introspect', '--config', 'drizzle.config.mjs'], { cwd: process.env.FOLDER, env: { ...process.env, OUT: out } })
  const schema = await readFile(join(process.env.FOLDER, out, 'schema.ts'), 'utf8')
  return schema.split('\n').filter((line) => /pgTable\(|pgView\(|"Größe"|beds:/.test(line)).map((line) => line.trim())
})
