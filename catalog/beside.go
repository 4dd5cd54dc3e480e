package catalog

// Beside is what an operator can do with a configuration for a database that has another one's store,
// and not harm that one.
const Beside = "leave it as it is: give this configuration a database of its own for its release (source, see docs/apart.md), with roles, publication and slot of its own; or add its tables to the other configuration, with audiences for other readers"
