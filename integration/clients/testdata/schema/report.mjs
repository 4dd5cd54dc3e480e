// Steps of a client, each printed as one line: its name and what came of it.
import { readFileSync } from 'node:fs'

export const connection = {
  host: 'localhost', port: Number(process.env.PGPORT), user: process.env.PGUSER, password: process.env.PGPASSWORD, database: process.env.PGDATABASE,
  ssl: { ca: readFileSync(process.env.PGSSLROOTCERT, 'utf8'), servername: 'localhost' },
}

const show = (value) => JSON.stringify(value, (key, inner) => (typeof inner === 'bigint' ? inner + 'n' : inner))

export async function step(name, work) {
  let text
  try {
    text = show(await work()) ?? 'undefined'
  } catch (error) {
    const of = error.cause ?? error.parent ?? error
    text = 'ERROR ' + [of.code, of.message].join(' ').replaceAll('\n', '\\n')
    if (process.env.TRACE) console.error(error)
  }
  console.log(`${name}: ${text}`)
}
