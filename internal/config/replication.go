package config

import "time"

// Replication is how kproxy follows the database.
type Replication struct {
	// Recovery says what happens when the stream of changes has a gap: the slot is
	// gone, or the server is another one than before.
	Recovery  Recovery      `yaml:"recovery" choices:"resynchronize stop" default:"resynchronize" doc:"What happens when changes may be missing: compare each table with its source and apply the difference (resynchronize), or wait for the operator (stop)."`
	Heartbeat time.Duration `yaml:"heartbeat" default:"10s" range:"0s..1d" doc:"How often a sign of life is written into an idle stream, so that the server need not keep its log (PostgreSQL 14 and later); 0s writes none."`
	// Superseded says what readers get of a release that a changed policy asks more of.
	Superseded Superseded `yaml:"superseded" choices:"withdraw keep" default:"withdraw" doc:"What readers get of a table after its policy has become stricter, until the new release is ready: nothing (withdraw), or the release before, if it has the same columns (keep). A release that promises as much as the new policy stays in any case, but with max_staleness."`
	Alarm      Alarm      `yaml:"alarm" doc:"From where on the log warns."`
}

// Alarm are the bounds from which the log warns that replication falls behind.
type Alarm struct {
	Retained int64         `yaml:"retained" as:"size" default:"10GB" range:"0..1024TB" doc:"Write-ahead log that the server keeps for kproxy; 0 never warns."`
	Behind   time.Duration `yaml:"behind" default:"5m" range:"0s..24d" doc:"The age of the oldest change that readers cannot see yet; 0s never warns."`
}

// Superseded says what readers get of a release that a changed policy asks more of.
type Superseded string

// What becomes of it until the new release is ready.
const (
	Withdraw Superseded = "withdraw"
	Keep     Superseded = "keep"
)

// Recovery says what happens when the stream of changes has a gap.
type Recovery string

// The ways to recover.
const (
	// Resynchronize compares source and store, and applies the difference.
	Resynchronize Recovery = "resynchronize"
	// StopOnLoss waits for the operator.
	StopOnLoss Recovery = "stop"
)
