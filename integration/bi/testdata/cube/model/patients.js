// No column tells the published rows apart, and Cube wants a primary key of a cube with
// joins: rows are numbered as they are read.
cube(`patients`, {
  sql: `SELECT *, row_number() OVER () AS row FROM public.patients`,
  joins: {
    wards: { sql: `${CUBE}.ward = ${wards}.ward`, relationship: `many_to_one` },
    icd10: { sql: `${CUBE}.diagnosis = ${icd10}.code`, relationship: `many_to_one` },
  },
  dimensions: {
    row: { sql: `row`, type: `number`, primary_key: true },
    sex: { sql: `sex`, type: `string` },
    postcode: { sql: `postcode`, type: `string` },
    maritalStatus: { sql: `marital_status`, type: `string` },
    occupation: { sql: `occupation`, type: `string` },
    ward: { sql: `ward`, type: `string` },
    diagnosis: { sql: `diagnosis`, type: `string` },
    birthDate: { sql: `birth_date`, type: `time` },
    admissionDate: { sql: `admission_date`, type: `time` },
    costBand: {
      type: `string`,
      case: {
        when: [
          { sql: `${CUBE}.cost < 1000`, label: `below 1000` },
          { sql: `${CUBE}.cost < 5000`, label: `1000 to 5000` },
        ],
        else: { label: `5000 and more` },
      },
    },
  },
  measures: {
    count: { type: `count` },
    cost: { sql: `cost`, type: `sum` },
    averageCost: { sql: `cost`, type: `avg` },
    highestCost: { sql: `cost`, type: `max` },
    diagnoses: { sql: `diagnosis`, type: `count_distinct` },
    women: { type: `count`, filters: [{ sql: `${CUBE}.sex = 'F'` }] },
    shareOfWomen: { sql: `100.0 * ${women} / NULLIF(${count}, 0)`, type: `number`, format: `percent` },
    costSoFar: { sql: `cost`, type: `sum`, rolling_window: { trailing: `unbounded` } },
  },
  segments: {
    expensive: { sql: `${CUBE}.cost >= 5000` },
  },
});
