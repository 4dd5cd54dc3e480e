//go:build unix

package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	gosync "sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// publicationPoints are steps of a publication at which a process ends, by how it does.
var publicationPoints = map[string][]string{
	"canceled": {FailSnapshotReading, FailRecordsFilled},
	"killed":   {FailSnapshotReading, FailRecordsFilled, FailAfterPublication},
}

// shownDigest is what readers see of a table, whatever the order.
func (b *bench) shownDigest(ctx context.Context, on *pgx.Conn, table string) (digest string, err error) {
	err = on.QueryRow(ctx, fmt.Sprintf("SELECT count(*) || ' ' || md5(string_agg(p::text, ',' ORDER BY p::text)) FROM kproxy_release_public.%s p", table)).Scan(&digest)
	return digest, err
}

// poll looks at a table until it is stopped, and reports what else than the digest was
// ever seen.
func (b *bench) poll(table, digest string) (stop func()) {
	conn, ctx := b.connect(), b.t.Context()
	end := make(chan struct{})
	var running gosync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(3 * time.Millisecond):
			}
			if seen, err := b.shownDigest(ctx, conn, table); err != nil || seen != digest {
				b.t.Errorf("a reader sees %q (%v), want %q", seen, err, digest)
				return
			}
		}
	})
	return func() {
		close(end)
		running.Wait()
	}
}

// leftBehind are the tables of the store that belong to no generation.
func (b *bench) leftBehind() (names []string) {
	b.t.Helper()
	rows, err := b.source.Query(b.t.Context(), `SELECT relname::text FROM pg_class WHERE relnamespace = 'kproxy_store'::regnamespace AND relkind = 'r' AND relname ~ '_[0-9]+$'
		AND substring(relname::text from '[0-9]+$')::bigint NOT IN (SELECT generation FROM kproxy_store.generation)`)
	if err != nil {
		b.t.Fatal(err)
	}
	names, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.t.Fatal(err)
	}
	return names
}

// smallRanges has tables read in many small ranges, on several connections.
var smallRanges = readingPlan{blocks: 2, connections: 3}

func (b *bench) inRanges() { b.config.ranges = smallRanges }

// TestPublicationIsAbandoned ends a process amid a new publication. Readers
// see the previous one, unchanged, until the next process shows the new one, which is the
// same since the source is; and nothing of the first attempt stays.
func TestPublicationIsAbandoned(t *testing.T) {
	t.Parallel()
	for name, abandon := range map[string]func(b *bench, point string){
		"canceled": (*bench).cancelPublicationAt,
		"killed":   (*bench).killPublicationAt,
	} {
		for _, point := range publicationPoints[name] {
			t.Run(name+"/"+point, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, pgtest.Shared(t), sourceTables)
				b.fill(600)
				b.inRanges()
				_, stop := b.run()
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				b.ownerGone()
				before, digest := b.generationOf("people"), ""
				var err error
				if digest, err = b.shownDigest(t.Context(), b.source, "people"); err != nil {
					t.Fatal(err)
				}
				if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
					t.Fatal(err)
				}
				stopPolling := b.poll("people", digest)
				abandon(b, point)
				s, _ := b.run()
				await(t, "people is published afresh", func() bool {
					return b.generationOf("people") > before && !s.Status().Tables[b.config.Tables[0].Policy.Table].Preparing
				})
				stopPolling()
				await(t, "nothing is left behind", func() bool { return len(b.leftBehind()) == 0 })
				b.checkStore(s)
				r := rand.New(rand.NewPCG(1, 0))
				for range 40 { // which hits the wrong records where their numbers are not the rows'
					b.change(r, 600)
				}
				b.caughtUp(s)
				b.checkStore(s)
			})
		}
	}
}

// cancelPublicationAt runs a Syncer until the failpoint.
func (b *bench) cancelPublicationAt(point string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	config := b.config
	config.Failpoint = func(name string) {
		if name == point {
			cancel()
		}
	}
	s, err := New(config)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		b.t.Fatal(err)
	}
	if ctx.Err() != context.Canceled {
		b.t.Fatalf("the failpoint %s was not met", point)
	}
	b.ownerGone()
}

// childOrder is what a process of its own does, in its environment.
type childOrder struct {
	DSN, Owner, Reader, Slot, Point string
}

const publicationVariable = "KPROXY_PUBLICATION_CHILD"

// killPublicationAt runs a Syncer in a process that kills itself at the failpoint.
func (b *bench) killPublicationAt(point string) {
	b.t.Helper()
	order, err := json.Marshal(childOrder{DSN: b.dsn, Owner: b.config.Owner.User, Reader: b.config.Reader, Slot: b.config.Slot, Point: point})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestPublicationChild$")
	child.Env = append(os.Environ(), publicationVariable+"="+string(order))
	output, err := child.CombinedOutput()
	status, known := child.ProcessState.Sys().(syscall.WaitStatus)
	if ctx.Err() != nil || !known || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		b.t.Fatalf("the child ended with %v:\n%s", err, output)
	}
}

// TestPublicationChild is the process that killPublicationAt starts.
func TestPublicationChild(t *testing.T) {
	text := os.Getenv(publicationVariable)
	if text == "" {
		t.Skip("it is started by another test")
	}
	var order childOrder
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&order); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dsn: order.DSN}
	b.source = b.connect()
	owner := b.source.Config().Copy()
	owner.User, owner.Password = order.Owner, "owner"
	b.config = Config{Owner: owner, Reader: order.Reader, Publication: "kproxy", Slot: order.Slot, Seed: 1, Tables: b.publications(testPolicy(), order.Reader)}
	b.inRanges()
	b.config.Failpoint = func(name string) {
		if name == order.Point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	s, err := New(b.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Fatal(s.Run(t.Context()))
}

// TestPublicationIsDeterministic publishes the same table read in different ways: numbers
// of records and classes are the same.
func TestPublicationIsDeterministic(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(900)
	b.exec("DELETE FROM people WHERE id % 7 = 3") // holes, and versions at other places
	b.exec("UPDATE people SET age = age + 1 WHERE id % 5 = 1")
	first, before := "", 0
	for _, plan := range []readingPlan{{}, {blocks: 1, connections: 1}, {blocks: 1, connections: 4}, {blocks: 3, connections: 2}} {
		b.config.ranges = plan
		_, stop := b.run()
		await(t, "people is published afresh", func() bool { return b.generationOf("people") > before })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		b.ownerGone()
		var records string
		sql := fmt.Sprintf("SELECT md5(string_agg(concat_ws(' ', kproxy_record, kproxy_class, id), ',' ORDER BY kproxy_record)) FROM kproxy_store.records_%d", b.generationOf("people"))
		if err := b.source.QueryRow(t.Context(), sql).Scan(&records); err != nil {
			t.Fatal(err)
		}
		if before = b.generationOf("people"); first == "" {
			first = records
		}
		if records != first {
			t.Errorf("%+v: other records", plan)
		}
		if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
			t.Fatal(err)
		}
	}
}
