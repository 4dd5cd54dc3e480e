// Package integration drives the built kproxy binary with real PostgreSQL
// servers and real clients: psql, pgx, and a client that keeps every byte it is
// sent. It has no code of its own; each test file is named after what it proves.
package integration
