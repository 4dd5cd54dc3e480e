// Package sync keeps the published release of every protected table in step
// with its source through PostgreSQL's logical replication.
//
// [Syncer.Run] makes a slot with an exported snapshot, publishes the tables as
// they stand in it, then applies each source transaction. Three things commit
// together in one transaction of the same database: the private store (keys,
// raw values, classes), the published relation, and the position. What is
// acknowledged to the server never runs ahead of that position, so a crash at
// any point loses nothing and applies nothing twice.
//
// Data flows one way:
//
//	receiver (stream.go) -> applier (apply.go) -> table (table.go), which holds
//	a maintained partition for each part (part.go) -> writer of the store
//	(write.go) and of the release (rewrite.go) -> PostgreSQL
//
// Sources: PostgreSQL, chapters "Logical Decoding", "Streaming Replication
// Protocol" and "Logical Replication Message Formats".
package sync
