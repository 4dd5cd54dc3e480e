// Sequelize, Knex and Kysely: what they build, and what they ask the catalogs.
import knexOf from 'knex'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { DataTypes, Op, Sequelize, fn, col } from 'sequelize'

import { connection, step } from './report.mjs'

const sequelize = new Sequelize({ ...connection, username: connection.user, dialect: 'postgres', dialectOptions: { ssl: connection.ssl }, logging: false, pool: { max: 2 } })
const Ward = sequelize.define('Ward', { ward: { type: DataTypes.TEXT, primaryKey: true }, beds: DataTypes.INTEGER, size: { type: DataTypes.INTEGER, field: 'Größe' } }, { tableName: 'wards', timestamps: false })
const Patient = sequelize.define('Patient', { visit: { type: DataTypes.INTEGER, primaryKey: true }, diagnosis: DataTypes.TEXT, cost: DataTypes.DECIMAL, details: DataTypes.JSONB }, { tableName: 'patients', timestamps: false })
await step('sequelize authenticate', () => sequelize.authenticate())
await step('sequelize all', () => Ward.findAll({ order: ['ward'], raw: true }))
await step('sequelize where', () => Patient.findAndCountAll({ where: { diagnosis: { [Op.in]: ['I10', 'J18'] }, cost: { [Op.gt]: 4000 }, 'details.k': { [Op.gt]: 100 } }, order: [['visit', 'DESC']], limit: 3, raw: true }))
await step('sequelize grouped', () => Patient.findAll({ attributes: ['diagnosis', [fn('COUNT', col('*')), 'n']], group: 'diagnosis', order: ['diagnosis'], raw: true }))
await step('sequelize transaction', () => sequelize.transaction({ isolationLevel: 'REPEATABLE READ', readOnly: true }, (transaction) => Patient.count({ transaction })))
await step('sequelize write', () => Ward.create({ ward: 'new', beds: 1 }))
await step('sequelize described', () => sequelize.getQueryInterface().describeTable('wards'))
await step('sequelize version', async () => (await sequelize.databaseVersion()).split('.')[0])
await sequelize.close()

const knex = knexOf({ client: 'pg', connection, pool: { min: 0, max: 2 } })
await step('knex all', () => knex('wards').orderBy('ward'))
await step('knex where', () => knex('patients').select('visit', 'cost').whereIn('diagnosis', ['I10', 'J18']).andWhere('cost', '>', 4000).orderBy('visit', 'desc').limit(3))
await step('knex grouped', () => knex('patients').select('diagnosis').count('* as n').groupBy('diagnosis').having(knex.raw('count(*) > ?', [10])).orderBy('diagnosis'))
await step('knex with', () => knex.with('big', knex('wards').where('beds', '>', 15)).select('ward').from('big').orderBy('ward'))
await step('knex stream', async () => {
  let sum = 0
  for await (const row of knex('patients').select('visit').stream()) sum += row.visit
  return sum
})
await step('knex transaction', () => knex.transaction((trx) => trx('patients').count('*'), { isolationLevel: 'repeatable read', readOnly: true }))
await step('knex write', () => knex('wards').insert({ ward: 'new', beds: 1 }))
await step('knex columns', () => knex('wards').columnInfo())
await step('knex has', async () => [await knex.schema.hasTable('wards'), await knex.schema.hasColumn('wards', 'beds'), await knex.schema.hasTable('nothing')])
await knex.destroy()

const kysely = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ ...connection, max: 2 }) }) })
await step('kysely all', () => kysely.selectFrom('wards').selectAll().orderBy('ward').execute())
await step('kysely where', () => kysely.selectFrom('patients').select(['visit', sql`details ->> 'k'`.as('k')]).where('diagnosis', 'in', ['I10', 'J18']).where('cost', '>', 4000).orderBy('visit').limit(3).execute())
await step('kysely joined', () => kysely.selectFrom('wards as a').innerJoin('wards as b', (on) => on.onRef('a.beds', '<', 'b.beds')).select(['a.ward', (e) => e.fn.countAll().as('n')]).groupBy('a.ward').orderBy('a.ward').execute())
await step('kysely transaction', () => kysely.transaction().setIsolationLevel('repeatable read').execute((trx) => trx.selectFrom('patients').select((e) => e.fn.countAll().as('n')).executeTakeFirst()))
await step('kysely write', () => kysely.insertInto('wards').values({ ward: 'new', beds: 1 }).execute())
await step('kysely tables', async () => (await kysely.introspection.getTables()).filter((t) => t.name === 'wards').map((t) => [t.schema, t.isView, t.columns.map((c) => [c.name, c.dataType, c.isNullable])]))
await kysely.destroy()
