// Runs Cube as `cubejs-server` does, but for two parts of its compiled library, which
// npm does not have: its own SQL interface and templates in models. Neither is used here.
const { ApiGateway } = require('@cubejs-backend/api-gateway');
const { NativeInstance } = require('@cubejs-backend/native');
const { CubejsServer } = require('@cubejs-backend/server');

ApiGateway.prototype.createSQLServerInstance = () => ({ async init() {}, async close() {} });
NativeInstance.prototype.newJinjaEngine = () => ({});

const server = new CubejsServer({ telemetry: false, checkAuth: () => ({ security_context: {} }) });
server.listen().then(({ app, version, port }) => {
  // What its playground asks to propose models, which only its developer mode shows.
  app.get('/tables', async (_, response) => {
    const driver = await server.getDriver({ dataSource: 'default' });
    response.json(await driver.tablesSchema());
  });
  console.log(`Cube ${version} listens on ${port}`);
});
