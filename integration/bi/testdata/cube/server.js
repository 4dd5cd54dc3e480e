// Runs Cube as `cubejs-server` does, but for two parts of its compiled library, which
// npm does not have: its own SQL interface and templates in models. Neither is used here.
const { ApiGateway } = require('@cubejs-backend/api-gateway');
const { NativeInstance } = require('@cubejs-backend/native');
const { CubejsServer } = require('@cubejs-backend/server');

ApiGateway.prototype.createSQLServerInstance = () => ({ async init() {}, async close() {} });
NativeInstance.prototype.newJinjaEngine = () => ({});

// Who asks with one of these tokens is connected to the database as a user of hers, and has caches of her own.
const connections = JSON.parse(process.env.CONNECTIONS || '{}');
const whose = ({ securityContext }) => `of ${securityContext?.token || 'all'}`;

const server = new CubejsServer({
  telemetry: false,
  checkAuth: (_, token) => ({ security_context: { token } }),
  contextToAppId: whose,
  contextToOrchestratorId: whose,
  driverFactory: ({ securityContext }) => ({ type: 'postgres', ...connections[securityContext?.token] }),
});
server.listen().then(({ app, version, port }) => {
  // What its playground asks to propose models, which only its developer mode shows.
  app.get('/tables', async (_, response) => {
    const driver = await server.getDriver({ dataSource: 'default' });
    response.json(await driver.tablesSchema());
  });
  console.log(`Cube ${version} listens on ${port}`);
});
