// PgTyped: the types that it makes of queries, what it says of wrong ones, and the queries that it makes.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import pg from 'pg'
import ts from 'typescript'

import { connection, step } from './report.mjs'

// Both ways are taken at the same time, in one folder.
const out = join(process.env.FOLDER, `out-${connection.port}`)
const config = join(process.env.FOLDER, `config-${connection.port}.json`)
mkdirSync(out)
writeFileSync(config, JSON.stringify({
  srcDir: 'queries', maxWorkerThreads: 1, typesOverrides: { int8: { return: 'bigint' } },
  transforms: [
    { mode: 'ts', include: 'tagged.ts', emitTemplate: join(out, '{{name}}.types.ts') },
    { mode: 'ts-implicit', include: 'implicit.ts', functionName: 'sql', emitFileName: join(out, 'implicit.ts') },
    { mode: 'sql', include: 'patients.sql', emitTemplate: join(out, '{{name}}.ts') },
  ],
}))

let said
await step('made', async () => {
  const environment = { ...process.env, PGHOST: '127.0.0.1', PGPORT: process.env.TUNNEL }
  said = await promisify(execFile)(process.execPath, [join('node_modules', '@pgtyped', 'cli', 'lib', 'index.js'), '--config', config], { cwd: process.env.FOLDER, env: environment })
  return said.stdout.replaceAll(basename(out), 'out').split('\n').filter((line) => line.startsWith('Saved'))
})
// Straight, a query that writes is in order until it runs.
const errors = said.stderr.split(/^}$/m)
for (const [i, query] of ['none', 'unknownColumn', 'unknownTable', 'unknownFunction', 'mistyped', 'writing'].entries()) await step(`error of ${query}`, () => errors[i].trim())

const file = (name) => readFileSync(join(out, name), 'utf8')
const code = file('patients.ts')
const types = code.split('\n\n').map((part) => part.trim()).filter((part) => /^export (interface|type) /m.test(part))
await step('shared types', () => types.filter((part) => part.startsWith('export type')))
for (const name of ['Ward', 'Types', 'Found', 'Grouped', 'UnknownColumn', 'Writing']) {
  await step(`types of ${name}`, () => types.filter((part) => new RegExp(`^export \\w+ I${name}(Params|Result|Query)\\b`, 'm').test(part)))
}
await step('tagged', () => file('tagged.types.ts'))
await step('implicit', () => file('implicit.ts'))

writeFileSync(join(out, 'patients.mjs'), ts.transpileModule(code, { compilerOptions: { module: 'esnext', target: 'esnext' } }).outputText)
const queries = await import(pathToFileURL(join(out, 'patients.mjs')))
const client = new pg.Client(connection)
await client.connect()
await step('ward', () => queries.ward.run({ ward: 'Größe' }, client))
await step('found', () => queries.found.run({ moods: ['good', 'fair'], keys: [{ visit: 3, diagnosis: 'J18' }, { visit: 21, diagnosis: 'I10' }], most: 5 }, client))
await step('grouped', () => queries.grouped.run({ cost: '4000' }, client))
await step('unknownColumn', () => queries.unknownColumn.run(undefined, client))
await step('writing', () => queries.writing.run({ beds: 1 }, client))
await step('goes on', () => queries.ward.run({ ward: 'nothing' }, client))
await client.end()
