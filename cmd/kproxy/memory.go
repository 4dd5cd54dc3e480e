package main

import (
	"errors"
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryEnv is how operators tell Go how much memory it may take: then it is theirs to decide.
const memoryEnv = "GOMEMLIMIT"

// limitMemory has Go collect garbage more often when the process comes near the memory that it
// is allowed, by a container or a service manager, of which Go knows nothing. The kernel would
// end the process there. A tenth is left for what is not Go's: the parser is in C.
func limitMemory(log *slog.Logger, allowed memlimit.Provider) {
	if os.Getenv(memoryEnv) != "" {
		return
	}
	limit, err := allowed()
	switch {
	case errors.Is(err, memlimit.ErrNoLimit) || err == nil && limit > math.MaxInt64:
	case err != nil:
		log.Debug("it is not known how much memory the process is allowed", "error", err)
	default:
		soft := int64(limit / 10 * 9)
		debug.SetMemoryLimit(soft)
		log.Info("memory is limited: garbage is collected more often near that", "allowed_bytes", limit, "limit_bytes", soft)
	}
}
