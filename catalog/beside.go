package catalog

// Undecided is the advice about a reader role that was in an audience and now is in none.
const Undecided = "name the reader in an audience; or take it out of upstream.readers, and give its users another one; or write reads: tables under it if its users are meant to read the finest release"

// Beside is the advice about a configuration for a database that holds another configuration's store. It
// harms neither.
const Beside = "leave it as it is: give this configuration a database of its own for its release (source, see docs/apart.md), with roles, publication and slot of its own; or add its tables to the other configuration, with audiences for other readers"

// InForceFirst is the advice about a configuration that lacks what another one set the database up for.
const InForceFirst = "if this is the same configuration, without these, run 'kproxy reload' or 'kproxy accept' first, which put it in force"
