// postgres.js: pipelined extended protocol with prepared statements, cursors, COPY, cancel.
import postgres from 'postgres'

import { code, copied, digest, large, medium, patients, pause, slow, step, tls } from './report.mjs'

const notices = []
const parameters = {}
const options = {
  host: 'localhost', ssl: tls, max: 1, onnotice: (notice) => notices.push([notice.code, notice.message]),
  onparameter: (name, value) => { parameters[name] = value }, connection: { application_name: 'work' },
}
const sql = postgres(options)

await step('columns', async () => (await sql.unsafe(patients)).columns.map((c) => [c.name, c.type, c.number]))
await step('all types', () => sql.unsafe(patients))
await step('raw', async () => digest(await sql.unsafe(patients).raw()))
await step('values', () => sql`SELECT visit, mood, home FROM patients WHERE visit < ${5} ORDER BY 1`.values())
await step('parameters', () => sql`SELECT ${1}::int AS a, ${'ß日本'}::text AS b, ${null}::int AS c, ${true}::bool AS d, ${Buffer.from([0, 39, 92])}::bytea AS e,
  ${new Date(0)}::timestamptz AS f, ${[1, 2]}::int[] AS g, ${sql.json({ a: [1, null] })}::jsonb AS h, ${2n ** 40n}::int8 AS i, ${'12.50'}::numeric AS j`)
await step('helpers', () => sql`SELECT ${sql(['visit', 'title'])} FROM ${sql('patients')} WHERE visit IN ${sql([3, 4, 5])} ORDER BY ${sql('visit')}`)
await step('fragment', () => sql`SELECT count(*) FROM patients ${true ? sql`WHERE diagnosis = ${'I10'}` : sql``}`)
await step('prepared', async () => {
  const seen = []
  for (let n = 1; n < 15; n++) seen.push((await sql`SELECT title FROM patients WHERE visit = ${n}`)[0].title)
  return seen
})
await step('described', async () => {
  const d = await sql`SELECT visit, cost FROM patients WHERE visit = ${0} AND tags @> ${[]}`.describe()
  return [d.types, d.columns.map((c) => [c.name, c.type])]
})
await step('many rows', async () => digest(await sql.unsafe(large)))
await step('cursor', async () => {
  const seen = []
  for await (const rows of sql.unsafe(medium).cursor(1000)) seen.push(await digest(rows))
  return seen
})
await step('cursor left early', async () => {
  const seen = []
  for await (const rows of sql`SELECT visit FROM patients ORDER BY 1`.cursor(7)) {
    seen.push(rows)
    if (seen.length === 2) break
  }
  return [seen, await sql`SELECT 1 AS one`]
})
await step('each', async () => {
  let sum = 0
  await sql`SELECT visit FROM patients`.forEach((row) => { sum += row.visit })
  return sum
})
await step('pipeline', () => Promise.all(Array.from({ length: 30 }, (_, n) => sql`SELECT ${n}::int + count(*) AS n FROM patients`.then((rows) => rows[0].n))))
await step('pipeline with errors', async () => (await Promise.allSettled([
  sql`SELECT 1 AS a`, sql`SELECT 1 / (count(*) - 500) FROM patients`, sql`SELECT nothing FROM patients`, sql`SELECT ${2}::int AS b`, sql`SELEC`, sql`SELECT 3 AS c`,
])).map((r) => r.value ?? code(r.reason)))
await step('transaction', () => sql.begin('ISOLATION LEVEL REPEATABLE READ', async (tx) => {
  const seen = [await tx`SELECT count(*) FROM patients`]
  await tx.savepoint((inner) => inner`SELECT 1 / 0`).catch((error) => seen.push(error.code))
  seen.push(await tx`SELECT count(*) FROM patients WHERE alive = ${true}`)
  return seen
}))
await step('failed transaction', () => sql.begin(async (tx) => {
  await tx`SELECT nothing FROM patients`.catch(() => {})
  return tx`SELECT 1`
}))
await step('several', () => sql.unsafe('SELECT 1 AS a; SELECT count(*) FROM patients; SELECT 2 AS b'))
await step('simple', () => sql`SELECT 1 AS a; SELECT 2 AS b`.simple())
await step('empty', () => sql.unsafe(''))
for (const form of ['text', 'csv', 'binary']) {
  await step(`copy ${form}`, async () => copied(await sql.unsafe(`COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT (FORMAT ${form})`).readable()))
}
await step('copy large', async () => copied(await sql.unsafe(`COPY (${large}) TO STDOUT`).readable()))
await step('after copy', () => sql`SELECT count(*) FROM patients`)
await step('cancel', async () => {
  const query = sql.unsafe(slow)
  setTimeout(() => query.cancel(), 300)
  return query
})
await step('after cancel', () => sql`SELECT 1 AS one`)
await step('notices', async () => {
  await sql.unsafe('COMMIT')
  return notices
})
await step('settings', async () => {
  await sql.unsafe("SET TimeZone = 'Asia/Kolkata'")
  const seen = [await sql`SELECT admitted::text FROM patients WHERE visit = 3`, parameters.TimeZone]
  await sql.unsafe('RESET ALL')
  delete parameters.search_path // the ways differ in it, and new servers report it
  return [seen, Object.entries(parameters).sort()]
})
await step('bad parameter', () => sql`SELECT ${'x'}::int`)
await step('large object', async () => {
  const object = await sql.largeObject(1)
  await object.close()
  return 'opened'
})
await sql.end()
await step('unprepared', async () => {
  const other = postgres({ ...options, prepare: false, max: 3 })
  const seen = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => other`SELECT title, alive FROM patients WHERE visit = ${n}`))
  await other.end()
  return seen
})
await step('one use', async () => {
  const seen = []
  for (let n = 0; n < 5; n++) {
    const other = postgres({ ...options, max_lifetime: 1 })
    seen.push(await other`SELECT count(*), current_setting('application_name') AS name FROM patients`)
    await other.end({ timeout: 0 })
  }
  return seen
})
await pause(1)
