// node-postgres: text protocol, prepared statements, cursors, streams, COPY, a pool.
import pg from 'pg'
import copyStreams from 'pg-copy-streams'
import Cursor from 'pg-cursor'
import QueryStream from 'pg-query-stream'

import { code, copied, digest, large, medium, patients, pause, slow, step, tls } from './report.mjs'

const options = { host: 'localhost', ssl: tls, enableChannelBinding: true, application_name: 'work' }
const client = new pg.Client(options)
await client.connect()
const notices = []
client.on('notice', (notice) => notices.push([notice.code, notice.message]))

const query = async (...args) => (await client.query(...args)).rows
const fields = (result) => result.fields.map((f) => [f.name, f.dataTypeID, f.dataTypeSize, f.dataTypeModifier, f.format, f.columnID])

const values = [1, 1.5, 2n ** 40n, 'ß\'\\"日本', null, true, Buffer.from([0, 1, 39, 92]), new Date(Date.UTC(2024, 0, 2, 3, 4, 5, 6)), [1, null, 3], ['a', 'b,{}"'], { a: [1, null] }, [[1, 2], [3, 4]], undefined]
const types = ['int', 'float8', 'int8', 'text', 'text', 'bool', 'bytea', 'timestamptz', 'int[]', 'text[]', 'jsonb', 'int[]', 'text']

await step('columns', async () => fields(await client.query(patients)))
await step('all types', () => query(patients))
await step('arrays of rows', () => query({ text: 'SELECT visit, home, mood FROM patients WHERE visit < 5 ORDER BY 1', rowMode: 'array' }))
await step('binary', () => query({ text: 'SELECT $1::int4 AS a, $2::bool AS b, $3::float8 AS c', values: [7, true, 1.25], binary: true }))
for (const [index, value] of values.entries()) {
  await step(`parameter ${index}`, () => query(`SELECT $1::${types[index]} AS v, pg_typeof($1)::text AS t`, [value]))
}
await step('filter', () => query('SELECT visit, title FROM patients WHERE diagnosis = ANY($1) AND visit < $2 AND mood = $3 ORDER BY 1', [['I10', 'C50'], 60, 'good']))
await step('prepared', async () => {
  const seen = []
  for (let n = 1; n < 15; n++) seen.push((await query({ name: 'title', text: 'SELECT title FROM patients WHERE visit = $1', values: [n] }))[0].title)
  return seen
})
await step('many rows', async () => digest(await query(large)))
await step('row limit', async () => {
  const result = await client.query({ text: medium, rows: 1000 })
  return [result.rows.length, result.command]
})
await step('cursor', async () => {
  const cursor = client.query(new Cursor(medium))
  const seen = []
  for (let rows = await cursor.read(2000); rows.length > 0; rows = await cursor.read(2000)) seen.push(await digest(rows))
  await cursor.close()
  return seen
})
await step('cursor closed early', async () => {
  const cursor = client.query(new Cursor('SELECT visit FROM patients WHERE visit > $1 ORDER BY 1', [10]))
  const seen = [await cursor.read(3), await cursor.read(2)]
  await cursor.close()
  return [seen, await query('SELECT 1 AS one')]
})
await step('stream', async () => digest(client.query(new QueryStream(medium, [], { batchSize: 700 }))))
await step('failing stream', async () => digest(client.query(new QueryStream('SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p', [], { batchSize: 50 }))))
await step('after stream', () => query('SELECT count(*) FROM patients'))
for (const form of ['text', 'csv', 'binary']) {
  await step(`copy ${form}`, () => copied(client.query(copyStreams.to(`COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT (FORMAT ${form})`))))
}
await step('copy large', () => copied(client.query(copyStreams.to(`COPY (${large}) TO STDOUT`))))
await step('copy error', () => copied(client.query(copyStreams.to('COPY (SELECT 1 / (visit - 200) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p) TO STDOUT'))))
await step('copy in', () => new Promise((resolve, reject) => client.query(copyStreams.from('COPY wards FROM STDIN')).on('error', reject).on('finish', resolve).end('x\t1\t2\n')))
await step('after copy', () => query('SELECT 1 AS one'))
await step('queued', () => Promise.all([1, 2, 3].map((n) => query('SELECT $1::int + count(*) AS n FROM patients', [n]))))
await step('queued with errors', async () => (await Promise.allSettled(['SELECT 1 AS a', 'SELECT 1 / 0', 'SELECT nothing FROM patients', 'SELECT 2 AS b'].map((text) => query(text)))).map((r) => r.value ?? code(r.reason)))
await step('transaction', async () => {
  const seen = []
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SAVEPOINT a')
  for (const text of ['SELECT 1 / 0', 'SELECT 1']) await client.query(text).catch((error) => seen.push(error.code))
  await client.query('ROLLBACK TO a')
  seen.push(await query('SELECT count(*) FROM patients'))
  seen.push((await client.query('COMMIT')).command)
  return seen
})
await step('several', async () => (await client.query('SELECT 1 AS a; SELECT count(*) FROM patients; VALUES (1), (2)')).map((r) => [r.command, r.rowCount, r.rows]))
await step('empty', async () => (await client.query('')).command)
await step('syntax error', () => query('SELECT FROM WHERE'))
await step('unknown column', () => query('SELECT nothing FROM patients WHERE visit = $1', [1]))
await step('bad parameter', () => query('SELECT $1::int', ['x']))
await step('too few parameters', () => query('SELECT $1::int + $2::int', [1]))
await step('goes on', () => query('SELECT 1 AS one'))
await step('notices', async () => {
  await client.query('COMMIT')
  await client.query('ROLLBACK')
  return notices
})
await step('formats', async () => {
  await client.query("SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'ISO, DMY'")
  const seen = await query('SELECT admitted, admitted::text AS text, day, span FROM patients WHERE visit = 3')
  await client.query('RESET ALL')
  return seen
})
await step('time limit of the client', async () => {
  const other = new pg.Client({ ...options, statement_timeout: 600 })
  await other.connect()
  const seen = []
  await other.query({ text: slow, query_timeout: 300 }).catch((error) => seen.push(error.message))
  seen.push((await other.query('SELECT 1 AS one')).rows)
  await other.end()
  return seen
})
await step('cancel', async () => {
  const other = new pg.Client({ ...options, statement_timeout: 300 })
  await other.connect()
  const seen = []
  await other.query(slow).catch((error) => seen.push(error.code, error.message))
  seen.push((await other.query('SELECT 1 AS one')).rows)
  await other.end()
  return seen
})
await step('listen', async () => (await client.query('LISTEN channel')).command)
await client.end()
await step('pool', async () => {
  const pool = new pg.Pool({ ...options, max: 4 })
  const seen = await Promise.all(Array.from({ length: 20 }, (_, n) => pool.query('SELECT $1::int + count(*) AS n FROM patients', [n]).then((r) => r.rows[0].n)))
  await pool.end()
  return seen
})
await step('abandoned', async () => {
  const other = new pg.Client(options)
  other.on('error', () => {})
  await other.connect()
  other.query(slow).catch(() => {})
  await pause(100)
  other.connection.stream.destroy()
  const again = new pg.Client(options)
  await again.connect()
  const rows = (await again.query('SELECT count(*) FROM patients')).rows
  await again.end()
  return rows
})
