package chaos

import (
	"flag"
	"testing"
)

var (
	chaosSeed       = flag.Uint64("chaos.seed", 1, "seed of the sessions")
	chaosOperations = flag.Int("chaos.operations", 20_000, "operations of each run: messages, sessions, cancels, disconnects")
	chaosSessions   = flag.Int("chaos.sessions", 32, "sessions at once")
)

// TestChaosPassing runs sessions with a gate that lets everything pass.
func TestChaosPassing(t *testing.T) {
	w := newWorld(t, PassingGate{}, *chaosOperations)
	w.run(*chaosSeed, *chaosSessions)
}

// TestChaosJudging runs sessions with a gate that refuses texts and follows the search
// path.
func TestChaosJudging(t *testing.T) {
	w := newWorld(t, NewJudgingGate(), *chaosOperations)
	w.run(*chaosSeed, *chaosSessions)
}
