// Package pool keeps connections to PostgreSQL between sessions: session pooling.
//
// [Pool.Get] gives a session a connection of its own, [Link.Release] takes it back. A connection is
// reused only by a session of the same role with the same startup parameters, and only after it has
// been shown that nothing of the last session is left on it: see reset.go. The number of
// connections is bounded, in total and for each user; beyond it sessions wait in the order in which
// they came. Several servers may be named, a primary and its physical standbys: a session then gets
// one whose role is preferred and, where a bound is set, whose data are fresh enough, measured only
// on the clock of this process (cluster.go).
//
// What a session can leave and the next one can find out, because PostgreSQL takes it back from no
// connection: the process id, the age and the counters of its server process, and that a setting of
// an extension that is not loaded ("my.name") once had a value. Its value is gone.
//
// Sources: PostgreSQL documentation, chapters "Frontend/Backend Protocol", "High
// Availability, Load Balancing, and Replication" and the reference page of DISCARD;
// pgbouncer's application_name_add_host for how clients are shown.
package pool
