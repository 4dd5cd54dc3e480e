// Package pool keeps connections to PostgreSQL between sessions.
package pool
