package verify_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/verify"
)

// TestJobsSeeOneMoment breaks a promise whenever another connection is made: all of them see what the
// first one does.
func TestJobsSeeOneMoment(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	four := slices.Repeat(publications, 4)
	want := run(t, conn, four)
	var connections atomic.Int32
	options := verify.Options{Jobs: 3, Connect: func(ctx context.Context) (*pgx.Conn, error) {
		other, err := pgx.ConnectConfig(ctx, conn.Config())
		if err == nil && connections.Add(1) == 1 {
			_, err = other.Exec(ctx, "UPDATE kproxy_store.release_12 SET age_range = '[200,300)'")
		}
		return other, err
	}}
	got, err := verify.Run(t.Context(), conn, four, options)
	if err != nil || !reflect.DeepEqual(got, want) || !got.Passed() {
		t.Errorf("%v: %s", err, rendered(t, got))
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d further connections for three jobs", n)
	}
	if report := run(t, conn, four); report.Passed() {
		t.Error("the promise is not broken")
	}
}

// TestJobsNeedNoConnections: where no other connection is to be had, one verifies all.
func TestJobsNeedNoConnections(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	execute(t, conn, "UPDATE kproxy_store.release_12 SET age_range = '[200,300)'")
	four := slices.Repeat(publications, 4)
	want := run(t, conn, four)
	got, err := verify.Run(t.Context(), conn, four, verify.Options{Jobs: 9, Connect: func(context.Context) (*pgx.Conn, error) { return nil, errors.New("too many") }})
	if err != nil || !reflect.DeepEqual(got, want) || got.Passed() {
		t.Errorf("%v: %s", err, rendered(t, got))
	}
}

// TestProgressIsTold: each check is told before it is done, with how many tables are verified.
func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	var told []verify.Progress
	options := verify.Options{Progress: func(p verify.Progress) { told = append(told, p) }}
	if _, err := verify.Run(t.Context(), conn, slices.Repeat(publications, 2), options); err != nil {
		t.Fatal(err)
	}
	var want []verify.Progress
	for done := range 2 {
		for _, checks := range []string{"counts", "constraints", "records", "values"} {
			want = append(want, verify.Progress{Table: "public.patients", Checks: checks, Done: done, Tables: 2})
		}
	}
	if !slices.Equal(told, want) {
		t.Errorf("%+v", told)
	}
}

// TestFailuresEndAllJobs: a query that fails is an error, whichever connection it is on.
func TestFailuresEndAllJobs(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	connected := make(chan struct{})
	options := verify.Options{Jobs: 2, Progress: func(verify.Progress) { <-connected }, Connect: func(ctx context.Context) (*pgx.Conn, error) {
		defer close(connected)
		other, err := pgx.ConnectConfig(ctx, conn.Config())
		if err == nil {
			_, err = other.Exec(ctx, "SET ROLE "+pgx.Identifier{conn.Config().Database + "_reader"}.Sanitize()) // which may not read the store
		}
		return other, err
	}}
	if report, err := verify.Run(t.Context(), conn, slices.Repeat(publications, 50), options); err == nil {
		t.Errorf("no error: %s", rendered(t, report))
	}
}
