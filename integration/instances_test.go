package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// applies is the log's last word on who applies.
func (p *process) applies() bool {
	log := p.log.String()
	return p.running() && strings.LastIndex(log, "this process applies the changes now") > strings.LastIndex(log, "another kproxy applies in this database; following it")
}

// writing counts people up until it is stopped, and returns how far it came.
func writing(t *testing.T, s *site) (stop func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	conn := connect(t, s.admin)
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := conn.Exec(context.WithoutCancel(ctx), forward, pgx.QueryExecModeSimpleProtocol); err != nil {
				done <- err
				return
			}
			pause(ctx)
		}
		done <- nil
	}()
	return func() int64 {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return scalar[int64](t, conn, "SELECT max(n) FROM people")
	}
}

// TestInstances has three processes serve one database under load. The one that applies
// is killed, and its successor stopped for longer than its lease: clients of the others
// see no error, states only go forward, and who wakes up follows and goes on serving.
func TestInstances(t *testing.T) {
	t.Parallel()
	first := newSite(t, sqlSite(operatedSchema, countedPolicy))
	first.kproxy(t, "setup").must(t)
	killed := first.serve(t)
	sites := []*site{first.beside(t, "second.yaml"), first.beside(t, "third.yaml")}
	var processes []*process
	var followers []*follower
	for _, s := range sites {
		p := s.serve(t)
		if !p.awaitLog(t, "following it") {
			t.Fatal("a second process does not follow")
		}
		processes, followers = append(processes, p), append(followers, follow(t, s))
	}
	stop := writing(t, first)
	for _, f := range followers {
		f.reaches(t, 20)
	}
	if status, code := first.statusJSON(t); code != 0 || status.Replication.Processes != 3 || status.Replication.Applier == nil {
		t.Errorf("status ends with %d: %+v", code, status)
	}

	killed.end(t, syscall.SIGKILL)
	var stopped, last int
	eventually(t, "another process applies", func() bool {
		for i, p := range processes {
			if p.applies() {
				stopped, last = i, 1-i
				return true
			}
		}
		return false
	})
	for _, f := range followers {
		f.reaches(t, f.last.Load()+20)
	}

	if err := processes[stopped].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the last process applies", processes[last].applies)
	followers[last].reaches(t, followers[last].last.Load()+20)
	if err := processes[stopped].cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "who woke up follows", func() bool {
		log := processes[stopped].log.String()
		return strings.LastIndex(log, "following it") > strings.LastIndex(log, "this process applies the changes now")
	})
	n := stop()
	for i, f := range followers {
		f.reaches(t, n)
		f.end(t)
		if processes[i].applies() != (i == last) {
			t.Errorf("process %d applies: %t", i, processes[i].applies())
		}
	}
	first.kproxy(t, "verify").must(t)

	began := time.Now()
	if code := processes[last].end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	eventually(t, "who is left takes over", processes[stopped].applies)
	t.Logf("after a graceful end it took %v until another process applied", time.Since(began))
}

// TestPoliciesDiffer gives a new policy to the process that follows before the one that
// applies knows it: what is published is not what the follower was told to serve.
func TestPoliciesDiffer(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy+visitsPolicy))
	s.kproxy(t, "setup").must(t)
	applier := s.serve(t)
	other := s.beside(t, "other.yaml")
	p := other.serve(t)
	if !p.awaitLog(t, "following it") {
		t.Fatal("the second process does not follow")
	}
	f := follow(t, other)
	client, reader := connect(t, other.url()), connect(t, s.url())
	if rows, _, _ := countRows(t, client, "visits"); rows != 60 {
		t.Fatalf("%d rows", rows)
	}
	const old, stricter = "  public.visits:\n    updates: immediate\n    constraints: [{k: 5}]", "  public.visits:\n    updates: immediate\n    constraints: [{k: 20}]"
	other.write(t, "other.yaml", strings.Replace(contents(t, other.config), old, stricter, 1))
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "who has read the table here is gone", func() bool { return client.PgConn().Ping(t.Context()) != nil })
	if !p.awaitLog(t, "a table is withdrawn.*visits.*its policy was never accepted") {
		t.Fatal("the log does not tell of it")
	}
	if _, code, _ := countRows(t, connect(t, other.url()), "visits"); code != "55000" {
		t.Errorf("a table under another policy is refused with %q", code)
	}
	if rows, code, _ := countRows(t, reader, "visits"); rows != 60 {
		t.Errorf("the process that applies shows %d rows, %s", rows, code)
	}

	s.replace(t, old, stricter)
	if o := s.kproxy(t, "reload").must(t); strings.Count(o.stdout, ": reloaded") != 2 {
		t.Errorf("reload says:\n%s", o.stdout)
	}
	for _, at := range []*site{s, other} {
		at.shows(t, "visits", 60)
	}
	if !applier.running() || !p.running() {
		t.Error("a process ended")
	}
	execute(t, connect(t, s.admin), forward)
	f.reaches(t, 1)
	f.end(t)
}

// TestStrangerHoldsTheLock has somebody who can connect to the database take the lock by which one
// process applies: log and status say who it is, and the statement that ends it.
func TestStrangerHoldsTheLock(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	s.kproxy(t, "setup").must(t)
	if code := s.serve(t).end(t, syscall.SIGTERM); code != 0 {
		t.Fatalf("the process ends with %d", code)
	}
	admin := connect(t, s.admin)
	stranger := connect(t, s.admin+"&application_name=stranger")
	execute(t, stranger, "SELECT pg_advisory_lock(hashtextextended($1, 0))", "kproxy applies "+s.slot)
	pid := fmt.Sprint(stranger.PgConn().PID())
	p := s.serve(t)
	if !p.awaitLog(t, "level=ERROR msg=\"nobody applies changes: .*server process "+pid+" of user .*application .*stranger") {
		t.Error("the log does not say who holds the lock")
	}
	if strings.Contains(p.log.String(), "following it") {
		t.Error("the log says that another kproxy applies")
	}
	status, code := s.statusJSON(t)
	found := slices.ContainsFunc(status.Needs, func(n struct{ What, Fix string }) bool {
		return strings.HasPrefix(n.What, "no kproxy applies changes: ") && strings.Contains(n.What, "server process "+pid+" of user ") && strings.Contains(n.Fix, "SELECT pg_terminate_backend("+pid+")")
	})
	if code != 3 || !found {
		t.Errorf("status ends with %d, and says %+v", code, status.Needs)
	}
	execute(t, admin, "SELECT pg_terminate_backend($1)", stranger.PgConn().PID())
	eventually(t, "the process applies", p.applies)
}

// TestIdleWriterBlocksTheStart has a transaction that has written, and then sleeps, keep the slot
// of the first start from beginning: the log names it.
func TestIdleWriterBlocksTheStart(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	s.kproxy(t, "setup").must(t)
	writer := connect(t, s.admin+"&application_name=idler")
	execute(t, writer, "CREATE TABLE written (a int)")
	execute(t, writer, "BEGIN")
	execute(t, writer, "INSERT INTO written VALUES (1)")
	pid := fmt.Sprint(writer.PgConn().PID())
	p := s.launch(t)
	if !p.awaitLog(t, "a replication slot waits for transactions .*server process "+pid+" of user .*idler.*pg_terminate_backend."+pid) {
		t.Fatal("the log does not say what is waited for")
	}
	execute(t, writer, "COMMIT")
	if !p.awaitLog(t, "msg=serving") {
		t.Error("it does not start")
	}
}
