package torture

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
)

var (
	oneSeed   = flag.Uint64("torture.seed", 0, "run this seed alone")
	runs      = flag.Int("torture.runs", 0, "run so many seeds and print a line for each")
	firstSeed = flag.Uint64("torture.first", 1, "the first of these seeds")
	parallel  = flag.Int("torture.parallel", 2, "runs at a time, each with a server of its own")
)

// usualRuns is how many seeds run where none are asked for.
const usualRuns = 8

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(jobVariable); ok {
		os.Exit(child(text))
	}
	os.Exit(m.Run())
}

func TestTorture(t *testing.T) {
	var seeds []uint64
	switch {
	case *oneSeed != 0:
		seeds = []uint64{*oneSeed}
	default:
		count := usualRuns
		if *runs > 0 {
			count = *runs
		}
		for i := range count {
			seeds = append(seeds, *firstSeed+uint64(i))
		}
	}
	todo := make(chan uint64)
	outcomes := make(chan outcome)
	var workers sync.WaitGroup
	for range min(*parallel, len(seeds)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			work(t, todo, outcomes)
		}()
	}
	go func() {
		for _, seed := range seeds {
			todo <- seed
		}
		close(todo)
		workers.Wait()
		close(outcomes)
	}()
	report(t, outcomes)
}

// work makes runs on a server of its own.
func work(t *testing.T, todo <-chan uint64, outcomes chan<- outcome) {
	var servers [2]*pgserver.Server // the second one has stores that are apart from their sources
	for i := range servers {
		server, err := pgserver.Start(t.Context(), pgserver.Options{Settings: serverSettings})
		if err != nil {
			t.Errorf("starting a server: %v", err)
			if errors.Is(err, pgserver.ErrNotFound) {
				t.Error("run `make postgres`")
			}
			for range todo { // nobody else may be there to take them
			}
			return
		}
		defer func() {
			if err := server.Stop(); err != nil {
				t.Errorf("stopping a server: %v", err)
			}
		}()
		servers[i] = server
	}
	for seed := range todo {
		outcomes <- torture(context.WithoutCancel(t.Context()), servers[0], servers[1], seed)
		for _, server := range servers {
			if server.PID() == 0 { // a run ended between a crash and the restart
				if err := server.Restart(t.Context()); err != nil {
					t.Errorf("restarting a server: %v", err)
				}
			}
		}
	}
}

// report prints a line for each run, and a summary.
func report(t *testing.T, outcomes <-chan outcome) {
	say := func(format string, arguments ...any) { t.Logf(format, arguments...) }
	if *runs > 0 {
		say = func(format string, arguments ...any) { fmt.Printf(format+"\n", arguments...) }
	}
	start := time.Now()
	var failed []uint64
	count, transactions, compared, polled := 0, 0, 0, int64(0)
	happened := make(map[string]int)
	for o := range outcomes {
		result := "ok"
		if o.err != nil {
			result = "FAILED"
			failed = append(failed, o.plan.seed)
		}
		say("seed %d: %s; %d transactions (%d refused), %d states compared, %d polled, %.1f s: %s",
			o.plan.seed, strings.Join(o.notes, ", "), o.transactions, o.refused, o.compared, o.polled, o.took.Seconds(), result)
		if o.err != nil {
			t.Fail()
			say("%v\nseed %d: %s\n%s\nreproduce: go test ./sync/torture -run Torture -torture.seed=%d",
				o.err, o.plan.seed, o.plan, strings.Join(o.logs, "\n"), o.plan.seed)
		}
		count, transactions, compared, polled = count+1, transactions+o.transactions, compared+o.compared, polled+o.polled
		for _, note := range o.notes {
			happened[note]++
		}
	}
	var faults []string
	for name, n := range happened {
		faults = append(faults, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(faults)
	say("%d runs in %s: %d transactions, %d states compared, %d polled; faults: %s; failed seeds: %v",
		count, time.Since(start).Round(time.Second), transactions, compared, polled, strings.Join(faults, ", "), failed)
	if count == 0 {
		t.Error("no run was made")
	}
}
