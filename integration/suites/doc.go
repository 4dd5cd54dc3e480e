// Package suites runs the test suites that drivers have for themselves, three times
// each: straight at PostgreSQL, through the relay alone, where everything is let pass,
// and through kproxy. What fails on the way through and not straight is held against a
// golden file that gives a reason for each.
//
// The relay alone shows how faithful package proxy is to the protocol, whatever the
// policy: nearly all must pass. Through kproxy much is refused by design, since the
// suites define, write and listen: there each failure must be a refusal, and not an
// answer that is wrong or does not come.
//
// The suites are those of pgx and lib/pq, which are in their Go modules, and that of
// libpq's pipelines, which is in the source of PostgreSQL.
package suites
