package integration

import (
	"math/rand/v2"
	"os"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// TestCrash kills kproxy and its server again and again while the source
// changes: nothing may be lost, doubled, or visible in between.
func TestCrash(t *testing.T) {
	t.Parallel()
	const seed, writers, transactions = 7001, 3, 250
	t.Logf("seed %d", uint64(seed))
	s := newSite(t, folkSite(siteOptions{server: ownServer(t, pgserver.Options{Durable: true})}, seed))
	s.kproxy(t, "setup").must(t)
	p := testPublicationCrashes(t, s)
	stop := poll(t, s, 2)
	rng := rand.New(rand.NewPCG(seed, 0))
	round := uint64(seed)
	for name, crash := range crashes(t) {
		t.Logf("%s", name)
		round++ // other numbers for the writers
		done, _ := work(t, s, round, writers, transactions, true)
		p = crash(t, s, p, rng)
		done()
		s.agrees(t, "folk", folkStored)
		if !p.running() {
			t.Fatalf("kproxy ended by itself:\n%s", p.log)
		}
	}
	stop()
}

// crashes yields every kind of crash with its name, in a fixed order. Each
// returns the process that serves at its end.
func crashes(t *testing.T) func(yield func(string, func(*testing.T, *site, *process, *rand.Rand) *process) bool) {
	return func(yield func(string, func(*testing.T, *site, *process, *rand.Rand) *process) bool) {
		if !yield("kill -9 of kproxy at random moments", killAtRandom) ||
			!yield("restart of the server", restartServer) ||
			!yield("crash of the server", crashServer) {
			return
		}
		for _, name := range failpoints(t) {
			if regexp.MustCompile("commit|acknowledge").MatchString(name) && !yield("failpoint "+name, crashAt(name)) {
				return
			}
		}
	}
}

// failpoints are the names that the package sync declares, in their order.
func failpoints(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("../sync/config.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`Fail\w+\s*= "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		names = append(names, m[1])
	}
	if len(names) < 7 {
		t.Fatalf("the failpoints are %q", names)
	}
	return names
}

// testPublicationCrashes crashes the first publication at each of its steps, then lets
// it succeed and does the same to a later one, which has slot and position already.
func testPublicationCrashes(t *testing.T, s *site) (serving *process) {
	t.Helper()
	beginning := regexp.MustCompile("^(slot|position)-")
	later := regexp.MustCompile("^snapshot-|-publication$|-join$")
	crash := func(round, name string) {
		p := s.launch(t, "KPROXY_FAILPOINT="+name)
		if code := p.wait(t); code != -int(syscall.SIGKILL) {
			t.Fatalf("%s, failpoint %s: the process ended with %d\n%s", round, name, code, p.log)
		}
	}
	for _, name := range failpoints(t) {
		if beginning.MatchString(name) || later.MatchString(name) {
			crash("first publication", name)
		}
	}
	s.serve(t).end(t, syscall.SIGTERM)
	s.agrees(t, "folk", folkStored)
	for _, name := range failpoints(t) {
		if later.MatchString(name) {
			s.kproxy(t, "rebuild", "--all", "--no-wait").must(t)
			crash("publication after a rebuild", name)
		}
	}
	serving = s.serve(t)
	s.agrees(t, "folk", folkStored)
	return serving
}

func killAtRandom(t *testing.T, s *site, p *process, rng *rand.Rand) *process {
	for range 6 {
		time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
		p.end(t, syscall.SIGKILL)
		p = s.serve(t)
	}
	return p
}

func restartServer(t *testing.T, s *site, p *process, rng *rand.Rand) *process {
	for range 2 {
		time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		if err := s.server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func crashServer(t *testing.T, s *site, p *process, rng *rand.Rand) *process {
	for range 2 {
		time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		if err := s.server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := s.server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// touch changes some rows, beside the writers, to whom it may have to give way.
func touch(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for {
		_, err := conn.Exec(t.Context(), "UPDATE folk SET notes = notes || '.' WHERE cost > 900")
		if err == nil {
			return
		}
		if !deadlocked(err) {
			t.Fatal(err)
		}
	}
}

// crashAt has kproxy crash twice at a step of applying changes.
func crashAt(failpoint string) func(*testing.T, *site, *process, *rand.Rand) *process {
	return func(t *testing.T, s *site, p *process, _ *rand.Rand) *process {
		p.end(t, syscall.SIGKILL)
		conn := connect(t, s.admin)
		for range 2 {
			// Even if the writers are done, there is something to apply.
			touch(t, conn)
			p := s.launch(t, "KPROXY_FAILPOINT="+failpoint)
			if code := p.wait(t); code != -int(syscall.SIGKILL) {
				t.Errorf("failpoint %s: the process ended with %d\n%s", failpoint, code, p.log)
			}
		}
		return s.serve(t)
	}
}
