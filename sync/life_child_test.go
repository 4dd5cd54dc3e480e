package sync

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	gosync "sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// childVariable holds the errand of a test binary that runs as a process of its own.
const childVariable = "KPROXY_SYNC_CHILD"

// errand is what a child is to do.
type errand struct {
	DSN, Reader, Slot string // the owner's DSN
	Policy            string // one of childPolicies
	// The child kills itself where it passes Die for the first time, or has done so Spare
	// times before, and stands still where it passes Hold.
	Die, Hold string
	Spare     int64
	// Ranges has tables and stores read in small ranges on several connections.
	Ranges bool
}

// childPolicies are what processes can be configured for.
var childPolicies = map[string]func() catalog.Policy{
	"ward": wardPolicy,
	"first table": func() catalog.Policy {
		p := wardPolicy()
		p.Tables = p.Tables[:1]
		return p
	},
	"other policy": func() catalog.Policy {
		p := wardPolicy()
		p.Tables[0].Constraints[0].K = 9
		return p
	},
}

// TestChild is no test: it is what a child does.
func TestChild(t *testing.T) {
	text := os.Getenv(childVariable)
	if text == "" {
		t.Skip("it is for children of other tests")
	}
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // the parent closes it, or has ended
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := e.run(ctx); err != nil {
		t.Fatal(err)
	}
}

func (e errand) run(ctx context.Context) error {
	owner, err := pgx.ParseConfig(e.DSN)
	if err != nil {
		return err
	}
	tables, err := e.tables(ctx, owner)
	if err != nil {
		return err
	}
	var last string
	var ranges readingPlan
	if e.Ranges {
		ranges = smallRanges
	}
	s, err := New(Config{
		ranges: ranges, Owner: owner, Reader: e.Reader, Publication: "kproxy", Slot: e.Slot, Seed: 1, Tables: tables, Failpoint: e.failpoint(),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Changed: func(status Status) {
			words := status.State.String()
			for _, p := range tables {
				words += " " + status.Tables[p.Policy.Table].State.String()
			}
			if words != last {
				last = words
				fmt.Println("state", words)
			}
		},
	})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

func (e errand) tables(ctx context.Context, owner *pgx.ConnConfig) ([]catalog.Publication, error) {
	conn, err := pgx.ConnectConfig(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer closeConn(conn)
	relations, err := inspect.Relations(ctx, conn, e.Reader)
	if err != nil {
		return nil, err
	}
	var tables []catalog.Publication
	for _, table := range childPolicies[e.Policy]().Tables {
		for _, r := range relations {
			if r.Name != table.Table {
				continue
			}
			p, problems := catalog.Publish(table, r)
			if len(problems) > 0 {
				return nil, fmt.Errorf("publishing %s: %v", table.Table, problems)
			}
			tables = append(tables, p)
		}
	}
	return tables, nil
}

func (e errand) failpoint() func(string) {
	var once gosync.Once
	var passed atomic.Int64
	return func(name string) {
		switch name {
		case e.Die:
			if passed.Add(1) <= e.Spare {
				return
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		case e.Hold:
			once.Do(func() {
				fmt.Println("state held")
				time.Sleep(300 * time.Millisecond) // the parent stops the process meanwhile
			})
		}
	}
}

// child is a process that runs a Syncer.
type child struct {
	b      *bench
	cmd    *exec.Cmd
	input  io.Closer
	exited chan struct{}

	mu     gosync.Mutex
	states []string // all that it told
	log    strings.Builder
}

// spawn starts a child on the bench's database.
func (b *bench) spawn(e errand) *child {
	b.t.Helper()
	owner := b.config.Owner
	e.DSN = fmt.Sprintf("postgres://%s:%s@%s:%d/%s?sslmode=disable", owner.User, owner.Password, owner.Host, owner.Port, owner.Database)
	e.Reader, e.Slot = b.config.Reader, b.config.Slot
	if e.Policy == "" {
		e.Policy = "ward"
	}
	text, err := json.Marshal(e)
	if err != nil {
		b.t.Fatal(err)
	}
	c := &child{b: b, cmd: exec.Command(os.Args[0], "-test.run=^TestChild$"), exited: make(chan struct{})} //nolint:gosec // this binary
	c.cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	c.cmd.Stderr = c
	input, err := c.cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	c.input = input
	if err := c.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if state, ok := strings.CutPrefix(lines.Text(), "state "); ok {
				c.mu.Lock()
				c.states = append(c.states, state)
				c.mu.Unlock()
			}
		}
		_ = c.cmd.Wait() // its outcome is in ProcessState
		close(c.exited)
	}()
	b.t.Cleanup(func() {
		c.kill()
		if b.t.Failed() {
			b.t.Logf("a child told %q and logged:\n%s", c.told(), c.logged())
		}
	})
	return c
}

// Write keeps the log.
func (c *child) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(text)
}

func (c *child) logged() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

func (c *child) told() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.states...)
}

// state is what the child told last; of its tables only where whole.
func (c *child) state() string {
	told := c.told()
	if len(told) == 0 {
		return ""
	}
	return told[len(told)-1]
}

// tells waits until what the child told last begins so.
func (c *child) tells(words string) {
	c.b.t.Helper()
	for start := time.Now(); !strings.HasPrefix(c.state(), words); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > patience {
			c.b.t.Fatalf("the child does not tell %q but %q", words, c.told())
		}
	}
}

func (c *child) signal(s syscall.Signal) {
	c.b.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.b.t.Fatal(err)
	}
}

// kill ends the process as a crash would.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	<-c.exited
}

// leave has the process end in an orderly way.
func (c *child) leave() {
	_ = c.input.Close()
	select {
	case <-c.exited:
	case <-time.After(patience):
		c.b.t.Error("the child does not end")
	}
}

// dies waits until the process has killed itself.
func (c *child) dies() {
	c.b.t.Helper()
	select {
	case <-c.exited:
	case <-time.After(patience):
		c.b.t.Fatalf("the child did not pass its failpoint; it told %q", c.told())
	}
}
