// TypeORM: connecting, entities with a relation, the query builder, and what it asks the catalogs.
import typeorm from 'typeorm'

import { connection, step } from './report.mjs'

const { DataSource, EntitySchema, In, IsNull, MoreThan } = typeorm
const Patient = new EntitySchema({
  name: 'Patient', tableName: 'patients',
  columns: { visit: { type: 'int', primary: true }, diagnosis: { type: String }, cost: { type: 'numeric', nullable: true }, details: { type: 'jsonb', nullable: true }, alive: { type: 'bool', nullable: true } },
})
const Ward = new EntitySchema({
  name: 'Ward', tableName: 'wards', columns: { ward: { type: String, primary: true }, beds: { type: 'int' }, size: { type: 'int', name: 'Größe', nullable: true } },
})
const source = new DataSource({ type: 'postgres', ...connection, username: connection.user, entities: [Patient, Ward], extra: { max: 2 } })
await source.initialize()
const patients = source.getRepository('Patient'), wards = source.getRepository('Ward')

await step('driver', () => [source.driver.database, source.driver.schema, source.driver.searchSchema])
await step('all', () => wards.find({ order: { ward: 'ASC' } }))
await step('found', () => patients.findOneBy({ visit: 20 }))
await step('where', () => patients.find({ where: [{ diagnosis: In(['I10', 'J18']), cost: MoreThan(4000) }, { alive: IsNull() }], order: { visit: 'DESC' }, skip: 3, take: 4 }))
await step('count', () => patients.findAndCount({ where: { alive: true }, take: 1, order: { visit: 'ASC' } }))
await step('grouped', () => patients.createQueryBuilder('p').select('p.diagnosis', 'diagnosis').addSelect('COUNT(*)', 'n').addSelect('AVG(p.cost)', 'cost').groupBy('p.diagnosis').having('COUNT(*) > :n', { n: 10 }).orderBy('1').getRawMany())
await step('subquery', () => wards.createQueryBuilder('w').where((q) => 'w.beds > ' + q.subQuery().select('AVG(x.beds)').from('Ward', 'x').getQuery()).orderBy('w.ward').getMany())
await step('transaction', () => source.transaction('REPEATABLE READ', async (manager) => [await manager.count('Patient'), await manager.query('SHOW transaction_isolation')]))
await step('write', () => wards.insert({ ward: 'new', beds: 1 }))
await step('error', () => source.query('SELECT nothing FROM wards'))
const runner = source.createQueryRunner()
await step('current', async () => [await runner.getCurrentSchema(), await runner.getCurrentDatabase(), await runner.hasDatabase('clinic'), await runner.hasSchema('public')])
await step('table', async () => [await runner.hasTable('wards'), await runner.hasColumn('wards', 'beds'), (await runner.getTable('wards'))?.columns.map((c) => [c.name, c.type, c.isNullable])])
await runner.release()
await source.destroy()
