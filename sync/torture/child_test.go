package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	ksync "github.com/kproxy/kproxy/sync"
)

// jobVariable holds the job of a test binary that runs as a child.
const jobVariable = "KPROXY_TORTURE_JOB"

// job is what a child is to do.
type job struct {
	DSN         string // the owner's, by way of a relay
	Source      string // likewise, to the source; empty where the owner's leads there
	Reader      string
	Publication string
	Slot        string
	Seed        uint64
	Shapes      []string
	// The child kills itself when it passes Failpoint for the Pass-th time.
	Failpoint string
	Pass      int
	// Jumps has its wall clock jump.
	Jumps bool
}

// child runs a Syncer until SIGTERM, and returns the process's exit code.
func child(text string) int {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		fmt.Fprintln(os.Stderr, "reading the job:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go tellOnQuit()
	owner, err := pgx.ParseConfig(j.DSN)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reading the job:", err)
		return 2
	}
	owner.ConnectTimeout = 5 * time.Second
	source := owner
	if j.Source != "" {
		if source, err = pgx.ParseConfig(j.Source); err != nil {
			fmt.Fprintln(os.Stderr, "reading the job:", err)
			return 2
		}
		source.ConnectTimeout = 5 * time.Second
	}
	tables, err := inspected(ctx, source, j)
	for ctx.Err() == nil && err != nil && survivable(err) { // the server is away, or the relay
		time.Sleep(100 * time.Millisecond)
		tables, err = inspected(ctx, source, j)
	}
	if err == nil {
		var s *ksync.Syncer
		if s, err = ksync.New(newConfig(j, owner, source, tables)); err == nil {
			err = s.Run(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "the child ends:", err)
		return 1
	}
	return 0
}

// tellOnQuit ends the process at SIGQUIT with what its goroutines are at.
func tellOnQuit() {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	<-quit
	_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1) // the process ends whatever comes of it
	os.Exit(3)
}

// inspected makes the publications of the job's tables as they are now.
func inspected(ctx context.Context, source *pgx.ConnConfig, j job) ([]catalog.Publication, error) {
	conn, err := pgx.ConnectConfig(ctx, source.Copy())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return publications(ctx, conn, source.User, named(j.Shapes))
}

// named are the shapes with the names, in their order.
func named(names []string) []*shape {
	var list []*shape
	for _, name := range names {
		for _, s := range everyShape() {
			if s.name == name {
				list = append(list, s)
			}
		}
	}
	return list
}

// publications derive what is published of the shapes.
func publications(ctx context.Context, conn *pgx.Conn, reader string, list []*shape) ([]catalog.Publication, error) {
	relations, err := inspect.Relations(ctx, conn, reader)
	if err != nil {
		return nil, err
	}
	var tables []catalog.Publication
	policies, byName := make(map[catalog.Name]catalog.TablePolicy), make(map[catalog.Name]catalog.Relation)
	for _, r := range relations {
		byName[r.Name] = r
	}
	people := linked()
	for _, s := range list {
		if slices.Contains(people.Names(), s.table()) {
			policies[s.table()] = s.policy
			continue
		}
		for _, r := range relations {
			if r.Name != s.table() {
				continue
			}
			p, problems := catalog.Publish(s.policy, r)
			if len(problems) > 0 {
				return nil, &mistake{fmt.Sprint(problems)}
			}
			tables = append(tables, p)
		}
	}
	if len(policies) > 0 {
		p, problems := catalog.PublishPeople(people, policies, byName)
		if len(problems) > 0 {
			return nil, &mistake{fmt.Sprint(problems)}
		}
		tables = append(append(tables, p.Root), p.Tables...)
	}
	if len(tables) != len(list) {
		return nil, &mistake{fmt.Sprintf("%d of %d tables were found", len(tables), len(list))}
	}
	return tables, nil
}
