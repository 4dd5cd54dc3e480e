// Prisma: its client, as `prisma generate` makes it. `prisma db pull` needs an engine that npm does not
// have, but as WebAssembly, which does not read "char" by this adapter.
import { createRequire } from 'node:module'

import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'

import { connection, step } from './report.mjs'

const require = createRequire(import.meta.url)
const pool = { ...connection, max: 2 }
const { PrismaClient, Prisma } = require('./generated')
// Prisma names the schema in each query.
const client = new pg.Client(connection)
await client.connect()
const { schema } = (await client.query('SELECT current_schema() AS schema')).rows[0]
await client.end()
const db = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) })

await step('all', () => db.ward.findMany({ orderBy: { ward: 'asc' } }))
await step('one', async () => [await db.ward.findUnique({ where: { ward: 'Größe' } }), await db.ward.findFirst({ where: { size: null } }), await db.patient.findUnique({ where: { visit: 3 }, omit: { tags: true, mood: true } })])
await step('batched', () => Promise.all([1, 2, 3].map((visit) => db.patient.findUnique({ where: { visit }, select: { visit: true, title: true } }))))
await step('where', () => db.patient.findMany({
  where: { OR: [{ cost: { gt: 4900 } }, { title: { endsWith: '77', mode: 'insensitive' } }], NOT: { alive: true }, tags: { has: 'a277' } },
  orderBy: [{ diagnosis: 'asc' }, { visit: 'desc' }], select: { visit: true, cost: true, title: true, uid: true },
}))
await step('json', () => db.patient.findMany({ where: { details: { path: ['k'], equals: 41 } }, select: { visit: true, details: true, admitted: true, raw: true } }))
await step('pages', () => db.patient.findMany({ cursor: { visit: 100 }, skip: 1, take: 4, orderBy: { visit: 'asc' }, select: { visit: true, large: true } }))
await step('backwards', () => db.patient.findMany({ cursor: { visit: 100 }, take: -3, orderBy: { visit: 'asc' }, select: { visit: true } }))
await step('distinct', () => db.patient.findMany({ distinct: ['diagnosis'], orderBy: { diagnosis: 'asc' }, select: { diagnosis: true } }))
await step('count', async () => [await db.patient.count(), await db.patient.count({ where: { alive: true }, select: { _all: true, title: true } })])
await step('aggregate', () => db.patient.aggregate({ _avg: { visit: true }, _sum: { cost: true }, _min: { admitted: true }, _max: { large: true } }))
await step('grouped', () => db.patient.groupBy({ by: ['diagnosis'], _count: true, _sum: { cost: true }, having: { visit: { _avg: { gt: 240 } } }, orderBy: { diagnosis: 'asc' } }))
await step('enum', () => db.patient.findMany({ where: { mood: 'good', visit: { lt: 9 } }, orderBy: { visit: 'asc' }, select: { visit: true, mood: true } }))
await step('raw', () => db.$queryRaw`SELECT visit, cost, tags, span::text FROM patients WHERE visit IN (${Prisma.join([3, 4])}) ORDER BY visit`)
await step('transaction', () => db.$transaction(async (tx) => [await tx.patient.count(), await tx.ward.count()], { isolationLevel: 'RepeatableRead' }))
await step('list of queries', () => db.$transaction([db.patient.count(), db.ward.count()]))
await step('failed transaction', () => db.$transaction(async (tx) => tx.$queryRaw`SELECT 1 / 0`))
await step('write', () => db.ward.create({ data: { ward: 'new', beds: 1 } }))
await step('error', () => db.$queryRaw`SELECT nothing FROM wards`)
await step('goes on', () => db.ward.count())
await db.$disconnect()
