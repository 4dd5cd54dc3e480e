// A pre-aggregation that Cube would store in the database it reads.
cube(`stored`, {
  extends: patients,
  pre_aggregations: {
    byWard: { measures: [CUBE.count], dimensions: [CUBE.ward], external: false },
  },
});
