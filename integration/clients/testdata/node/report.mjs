// Steps of a client, each printed as one line: its name and what came of it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export const patients = 'SELECT * FROM patients WHERE visit <= 30 ORDER BY visit'
// 55,000 rows of it are more than any buffer on the way holds.
export const large = 'SELECT n, p.visit, p.cost, p.admitted, p.remarks, p.tags, p.raw FROM patients p, generate_series(1, 110) n ORDER BY n, visit'
// Enough rows of it for several messages and buffers.
export const medium = large.replace('1, 110', '1, 11')
export const slow = 'SELECT count(*) FROM generate_series(1, 100000000000)'

export const tls = { ca: readFileSync(process.env.PGSSLROOTCERT, 'utf8'), servername: 'localhost' }

function replacer(key, value) {
  const raw = this[key]
  if (raw instanceof Date) return 'Date ' + (isNaN(raw) ? String(raw) : raw.toISOString())
  if (Buffer.isBuffer(raw)) return 'Buffer ' + raw.toString('hex')
  if (typeof raw === 'bigint') return raw + 'n'
  if (typeof raw === 'number' && !Number.isFinite(raw)) return String(raw)
  if (raw === undefined) return 'undefined'
  return value
}

export const show = (value) => JSON.stringify(value, replacer)

export const code = (error) => 'ERROR ' + [error.constructor.name, error.code, error.severity, error.position, error.message].join(' ').replaceAll('\n', '\\n')

export async function step(name, work) {
  let text
  try {
    text = show(await work()) ?? 'undefined'
  } catch (error) {
    text = code(error)
    if (process.env.TRACE) console.error(error)
  }
  console.log(`${name}: ${text}`)
}

// digest is the number of rows and a digest of all that is in them.
export async function digest(rows) {
  const sum = createHash('sha256')
  let count = 0
  for await (const row of rows) {
    sum.update(show(row))
    count++
  }
  return [count, sum.digest('hex').slice(0, 16)]
}

export async function copied(stream) {
  const sum = createHash('sha256')
  let size = 0
  for await (const data of stream) {
    sum.update(data)
    size += data.length
  }
  return [size, sum.digest('hex').slice(0, 16)]
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
