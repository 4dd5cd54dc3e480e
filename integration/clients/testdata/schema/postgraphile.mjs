// PostGraphile: it makes a GraphQL schema of what it finds in the catalogs, and queries of GraphQL.
import { lexicographicSortSchema, printSchema } from 'graphql'
import pg from 'pg'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { execute, hookArgs } from 'postgraphile/grafast'
import { parse, validate } from 'postgraphile/graphql'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter'

import { connection, step } from './report.mjs'

const pool = new pg.Pool({ ...connection, max: 3 })
let served

await step('schema', async () => {
  const { rows } = await pool.query('SELECT current_schema() AS name')
  served = postgraphile({
    extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
    pgServices: [makePgService({ pool, schemas: [rows[0].name] })],
    grafast: { explain: false },
  })
  const { schema } = await served.getSchemaResult()
  const type = (name) => Object.values(schema.getType(name)?.getFields() ?? {}).map((field) => `${field.name} ${field.type}`)
  return [type('Patient'), type('PatientFilter').length, printSchema(lexicographicSortSchema(schema)).length > 10000]
})
await step('ward', async () => {
  const { schema } = await served.getSchemaResult()
  return [Object.keys(schema.getQueryType().getFields()), Object.values(schema.getType('Ward').getFields()).map((field) => `${field.name} ${field.type}`)]
})
await step('mutations', async () => {
  const { schema } = await served.getSchemaResult()
  return Object.keys(schema.getMutationType()?.getFields() ?? {})
})

async function ask(name, source, variableValues) {
  await step(name, async () => {
    const { schema, resolvedPreset } = await served.getSchemaResult()
    const document = parse(source)
    const invalid = validate(schema, document)
    if (invalid.length) throw invalid[0]
    const args = await hookArgs({ schema, document, variableValues, resolvedPreset, requestContext: {} })
    const { data, errors } = await execute(args)
    return [data, ...(errors ?? []).map((error) => `${error.originalError?.code} ${error.message}`)]
  })
}

await ask('all', '{ allWards(orderBy: WARD_ASC) { nodes { ward beds } } }')
await ask('connection', `query ($first: Int!, $after: Cursor) { allPatients(orderBy: [DIAGNOSIS_ASC, VISIT_DESC], first: $first, after: $after) {
  totalCount pageInfo { hasNextPage hasPreviousPage } nodes { visit diagnosis birthDate sex postcode } } }`, { first: 4 })
await ask('offset', '{ allPatients(orderBy: VISIT_ASC, offset: 100, first: 3) { nodes { visit title cost mood tags details admitted span { months days hours minutes } stay { start { value inclusive } } } } }')
await ask('last', '{ allPatients(orderBy: VISIT_ASC, last: 2) { nodes { visit } } }')
await ask('condition', '{ allPatients(condition: { diagnosis: "I10", mood: good }, orderBy: VISIT_ASC, first: 5) { totalCount nodes { visit mood } } }')
await ask('filter', `query ($tags: [String]) { allPatients(filter: { or: [{ cost: { greaterThan: "4900" } }, { title: { endsWith: "77" } }], tags: { overlaps: $tags }, not: { alive: { equalTo: true } } },
  orderBy: VISIT_ASC) { totalCount nodes { visit cost title } } }`, { tags: ['b"\\,{}'] })
await ask('filter of types', `{ allPatients(filter: { admitted: { lessThan: "2024-04-01T00:00:00Z" }, uid: { isNull: false } },
  orderBy: VISIT_ASC) { totalCount nodes { visit uid years { start { value } end { value } } } } }`)
await ask('several', '{ a: allWards { totalCount } b: allPatients(first: 1, orderBy: VISIT_ASC) { nodes { home { city zip } place { x y } amount } } }')
await ask('equal', '{ allPatients(filter: { visit: { equalTo: 3 } }, orderBy: VISIT_ASC) { nodes { visit } totalCount } }')
await step('cursors without a key', async () => {
  const { schema, resolvedPreset } = await served.getSchemaResult()
  let after = null
  const seen = []
  for (let page = 0; page < 3; page++) {
    const document = parse('query ($after: Cursor) { allPatients(orderBy: [SEX_ASC, VISIT_ASC], first: 3, after: $after) { nodes { visit } pageInfo { endCursor } } }')
    const { data, errors } = await execute(await hookArgs({ schema, document, variableValues: { after }, resolvedPreset, requestContext: {} }))
    if (errors) throw errors[0]
    seen.push(data.allPatients.nodes)
    after = data.allPatients.pageInfo.endCursor
  }
  return seen
})
await served.release()
await pool.end()
