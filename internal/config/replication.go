package config

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// Replication is how kproxy lives with the database that it follows.
type Replication struct {
	// Recovery says what happens when the stream of changes has a gap: the slot is
	// gone, or the server is another one than before. Default Resynchronize.
	Recovery Recovery
	// Heartbeat is how often a sign of life is written into an otherwise idle stream, so
	// that the server can let go of its log. Default 10 s.
	Heartbeat time.Duration
	// Alarm says when the log warns.
	Alarm Alarm
}

// Alarm are the bounds from which replication that falls behind is told in the log.
type Alarm struct {
	// Retained are bytes of write-ahead log that the server keeps for the slot; 0 is
	// never. Default 10 GiB.
	Retained int64
	// Behind is the age of the oldest change that readers cannot see yet; 0 is never.
	// Default 5 min.
	Behind time.Duration
}

// Recovery says what happens when the stream of changes has a gap.
type Recovery string

// The ways to recover.
const (
	// Resynchronize compares source and store, and applies the difference.
	Resynchronize Recovery = "resynchronize"
	// StopOnLoss waits for the operator.
	StopOnLoss Recovery = "stop"
)

// String is the way's name in a configuration.
func (w Recovery) String() string { return string(w) }

// maxRetained is more than any server has room for: one PiB.
const maxRetained = 1 << 50

func (r *reader) replication(to *Replication) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(
			n, "replication",
			field{key: "recovery", doc: "What happens when changes may be missing: compare each table with its source and apply the difference (resynchronize), or wait for the operator (stop).", read: storeChoice(r, &to.Recovery, "recovery", Resynchronize, StopOnLoss)},
			field{key: "heartbeat", doc: "How often a sign of life is written into an idle stream, so that the server need not keep its log (PostgreSQL 14 and later).", read: r.storeDuration(&to.Heartbeat, "heartbeat", false, day)},
			field{key: "alarm", doc: "From where on the log warns.", read: func(n *yaml.Node) {
				r.mapping(
					n, "alarm",
					field{key: "retained", doc: "Write-ahead log that the server keeps for kproxy; 0 never warns.", read: r.storeSize(&to.Alarm.Retained, "retained", maxRetained)},
					field{key: "behind", doc: "The age of the oldest change that readers cannot see yet; 0s never warns.", read: r.storeDuration(&to.Alarm.Behind, "behind", true, maxDuration)},
				)
			}},
		)
	}
}
