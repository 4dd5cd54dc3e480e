// Prints the rows of a source that Evidence has stored, columns parted by tabs.
import fs from 'node:fs';
import { tableFromIPC, DataType } from 'apache-arrow';
import { readParquet } from 'parquet-wasm/node/arrow1.js';

const file = `.evidence/template/static/data/hospital/${process.argv[2]}/${process.argv[2]}.parquet`;
const table = tableFromIPC(readParquet(fs.readFileSync(file)).intoIPCStream());
for (const row of table) {
  const values = table.schema.fields.map(({ name, type }) =>
    DataType.isTimestamp(type) ? new Date(row[name]).toISOString().slice(0, 10) : row[name]);
  console.log(values.join('\t'));
}
