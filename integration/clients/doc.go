// Package clients has real clients do their natural work, once through kproxy and once
// straight on PostgreSQL as the reader role, with TLS and SCRAM on both ways, and
// compares what they report step by step. docs/clients.md says what was run.
package clients
