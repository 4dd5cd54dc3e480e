// Package sync keeps the published release of every protected table in step
// with its source through PostgreSQL's logical replication.
//
// [Syncer.Run] waits until this process is the one that applies, then applies each
// source transaction. Three things commit together in one transaction of the same
// database: the private store (keys, raw values, classes), the published relation, and
// the position. What is acknowledged to the server never runs ahead of that position, so
// a crash at any point loses nothing and applies nothing twice.
//
// Data flows one way:
//
//	receiver (stream.go) -> applier (apply.go) -> table (table.go), whose mode (mode.go)
//	decides what readers see -> statements (write.go) -> writer (batch.go) -> PostgreSQL
//
// Outside the stream, a worker (worker.go) prepares tables, which join it at a position
// (join.go), and a watcher (watch.go) reads from the catalogs what the stream does not carry.
// DESIGN.md has the reasons.
//
// Sources: PostgreSQL, chapters "Logical Decoding", "Streaming Replication
// Protocol" and "Logical Replication Message Formats".
package sync
