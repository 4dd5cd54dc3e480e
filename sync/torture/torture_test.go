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
	tortureAll(t, selection{one: *oneSeed, runs: *runs, first: *firstSeed, usual: usualRuns, flag: "torture"}, newPlan)
}

// selection says which seeds are run.
type selection struct {
	one   uint64 // alone; 0 for none
	runs  int    // so many, with a line for each; 0 for the usual ones
	first uint64
	usual int
	flag  string // what the flags begin with
}

func (s selection) seeds() []uint64 {
	if s.one != 0 {
		return []uint64{s.one}
	}
	count := s.usual
	if s.runs > 0 {
		count = s.runs
	}
	var seeds []uint64
	for i := range count {
		seeds = append(seeds, s.first+uint64(i))
	}
	return seeds
}

// tortureAll runs the selected seeds of a kind of plan.
func tortureAll(t *testing.T, chosen selection, draw func(uint64, pgserver.Version) *plan) {
	t.Helper()
	seeds := chosen.seeds()
	todo := make(chan uint64)
	outcomes := make(chan outcome)
	var workers sync.WaitGroup
	for range min(*parallel, len(seeds)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			work(t, todo, outcomes, draw)
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
	report(t, chosen, outcomes)
}

// work makes runs on a server of its own.
func work(t *testing.T, todo <-chan uint64, outcomes chan<- outcome, draw func(uint64, pgserver.Version) *plan) {
	var servers [2]*seat // the second one has stores that are apart from their sources
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
		servers[i] = &seat{server: server}
		defer func() {
			if err := servers[i].now().Stop(); err != nil {
				t.Errorf("stopping a server: %v", err)
			}
		}()
	}
	for seed := range todo {
		outcomes <- torture(context.WithoutCancel(t.Context()), servers[0], servers[1], draw(seed, servers[0].Version()))
		for _, server := range servers {
			if server.now().PID() == 0 { // a run ended between a crash and the restart
				if err := server.Restart(t.Context()); err != nil {
					t.Errorf("restarting a server: %v", err)
				}
			}
		}
	}
}

// report prints a line for each run, and a summary.
func report(t *testing.T, chosen selection, outcomes <-chan outcome) {
	t.Helper()
	say := func(format string, arguments ...any) { t.Logf(format, arguments...) }
	if chosen.runs > 0 {
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
			say("%v\nseed %d: %s\n%s\nreproduce: go test ./sync/torture -run %s -%s.seed=%d",
				o.err, o.plan.seed, o.plan, strings.Join(o.logs, "\n"), t.Name(), chosen.flag, o.plan.seed)
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
