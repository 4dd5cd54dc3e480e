// Package torture proves that replication loses nothing: random workloads against
// package sync under random faults, compared row for row with an oracle.
//
// A run is a function of its seed as far as concurrency allows. The seed decides the
// protected tables, what every writer will send (each writer has a generator of its
// own, which never looks at the database), which faults happen and after how many
// transactions. What it cannot decide is how the writers' transactions interleave,
// which of them are rolled back by a deadlock, and where in the stream a fault hits.
// A seed that fails is therefore run again a few times to see it fail.
//
// The oracle shares no code with package sync. It reads a slot of its own through
// SQL functions, decodes pgoutput itself, keeps every change, and so knows each table
// as of any commit. At random moments one snapshot of the database gives the store's
// positions, its records, the release and what the reader role sees; the oracle is
// moved to exactly these positions. Pollers check every state that they can see.
//
//	go test ./sync/torture                              a few seeds
//	go test ./sync/torture -run Torture -torture.seed=N one of them
//	go test ./sync/torture -run Torture -torture.runs=500 -timeout 3h
//	go test ./sync/torture -run ServersFailApart -torture.apart.runs=200 -timeout 12h
//
// All of it is in test files.
package torture
