package integration

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// Bounds of what readers may see while servers come and go.
const (
	hostsStaleness = 5 * time.Second
	// hostsPatience is for how long readers may be refused after the right primary can be reached again.
	hostsPatience = 15 * time.Second
	hostsRounds   = 9
)

// name is an address that leads to one server or another, as a name does whose record is changed, or to none.
type name struct {
	listener net.Listener

	mutex  sync.Mutex
	target string // empty for nowhere
	conns  map[net.Conn]bool
}

func newName(t *testing.T, to *pgserver.Server) *name {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &name{listener: listener, conns: make(map[net.Conn]bool)}
	t.Cleanup(func() { _ = listener.Close(); n.lead(nil) })
	n.lead(to)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go n.relay(conn)
		}
	}()
	return n
}

func (n *name) port() int { return n.listener.Addr().(*net.TCPAddr).Port }

// lead has the name lead to a server from now on, nil for none, and ends all connections.
func (n *name) lead(to *pgserver.Server) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.target = ""
	if to != nil {
		n.target = fmt.Sprintf("127.0.0.1:%d", to.Port())
	}
	for conn := range n.conns {
		_ = conn.Close()
	}
	clear(n.conns)
}

// keep notes a connection, and reports whether it still leads there.
func (n *name) keep(conn net.Conn, to string) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.target != to {
		return false
	}
	n.conns[conn] = true
	return true
}

func (n *name) relay(client net.Conn) {
	defer func() { _ = client.Close() }()
	n.mutex.Lock()
	to := n.target
	n.mutex.Unlock()
	if to == "" || !n.keep(client, to) {
		return
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !n.keep(server, to) {
		return
	}
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	_, _ = io.Copy(client, server)
}

// worldClock is what was committed at the right primary, and when.
type worldClock struct {
	mutex   sync.Mutex
	commits []time.Time // of n = its place
	least   int         // the size that classes have at least
	healthy time.Time   // since when the right primary can be reached; zero while it cannot
	misled  bool        // the owner is led to the wrong primary
	settled time.Time   // when that was over
}

func (w *worldClock) committed() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.commits = append(w.commits, time.Now())
}

// oldest is the least n that a statement may show which begins at a time.
func (w *worldClock) oldest(begun time.Time) int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.misled || begun.Sub(w.settled) < hostsStaleness {
		return 0 // the other one is the source as far as kproxy can know
	}
	n := 0
	for i, at := range w.commits {
		if begun.Sub(at) >= hostsStaleness {
			n = i + 1
		}
	}
	return n
}

// set changes what is known under the mutex.
func (w *worldClock) set(change func()) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change()
}

// chaoticHosts are a primary and a standby, each behind a name that readers know it by; the owner has a name of
// its own for the primary.
type chaoticHosts struct {
	t                    *testing.T
	site                 *site
	standby              *pgserver.Server
	owner, first, second *name
	world                worldClock
	random               *rand.Rand
	answers, refusals    int
	asked                int
	sessions             [2]*pgx.Conn // of the reader; the first is made anew each time
	longest              time.Duration
}

// TestHostsComeAndGo has readers' servers flap, standbys promoted that must not be, and the owner led to the
// wrong one and back, while a table is published under a stricter policy. Nobody sees what is older than
// max_staleness, or of another world, or of the policy before, and nobody is refused for long once the right primary
// is back.
func TestHostsComeAndGo(t *testing.T) {
	t.Parallel()
	primary := ownServer(t, pgserver.Options{})
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = primary
	h := &chaoticHosts{t: t, site: newSite(t, o), random: rand.New(rand.NewPCG(7, 11))}
	h.owner, h.first = newName(t, primary), newName(t, primary)
	h.second = newName(t, nil)
	h.world.least, h.world.healthy = 5, time.Now()
	s := h.site
	s.kproxy(t, "setup").must(t)
	h.newStandby()
	const reader = "    password_file: reader.password\n"
	s.replace(t, fmt.Sprintf("port: %d", primary.Port()), fmt.Sprintf("port: %d", h.owner.port()),
		reader, reader+fmt.Sprintf("    hosts: [\"127.0.0.1:%d\", \"127.0.0.1:%d\"]\n    prefer: standby\n    max_staleness: %s\n", h.second.port(), h.first.port(), hostsStaleness))
	p := s.serve(t)
	defer p.end(t, syscall.SIGTERM)

	ctx, stop := context.WithCancel(t.Context())
	var at sync.WaitGroup
	at.Go(func() { h.write(ctx) })
	at.Go(func() { h.read(ctx) })
	rounds := []func(){h.flapStandby, h.stallStandby, h.flapPrimary, h.promoteTheWrongOne, h.misleadTheOwner, h.stricter}
	for i := range hostsRounds {
		round := i
		if round >= len(rounds) {
			round = h.random.IntN(len(rounds) - 1) // what is stricter once cannot be stricter again
		}
		rounds[round]()
		h.pause(2 * time.Second)
	}
	h.pause(hostsPatience) // whoever is refused now is refused for too long
	stop()
	at.Wait()
	t.Logf("%d answers, %d refusals, the longest time of these with the right primary in reach is %v", h.answers, h.refusals, h.longest)
	if h.answers < 100 {
		t.Errorf("only %d answers", h.answers)
	}
	if h.longest > hostsPatience {
		t.Errorf("readers are refused for %v though the right primary is back", h.longest)
	}
	if !p.running() {
		t.Error("kproxy has ended")
	}
}

// newStandby puts another standby in the place of the one before.
func (h *chaoticHosts) newStandby() {
	h.t.Helper()
	if h.standby != nil {
		h.second.lead(nil)
		if err := h.standby.Stop(); err != nil {
			h.t.Error(err)
		}
	}
	standby, err := h.site.server.Standby(h.t.Context(), pgserver.StandbyOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = standby.Stop() })
	h.standby = standby
	h.second.lead(standby)
}

func (h *chaoticHosts) pause(most time.Duration) {
	select {
	case <-time.After(most/2 + time.Duration(h.random.Int64N(int64(most)/2))):
	case <-h.t.Context().Done():
	}
}

// away takes the right primary out of reach while something is done.
func (h *chaoticHosts) away(do func()) {
	h.world.set(func() { h.world.healthy = time.Time{} })
	do()
	h.world.set(func() { h.world.healthy = time.Now() })
}

func (h *chaoticHosts) flapStandby() {
	for range 5 {
		h.second.lead(nil)
		h.pause(time.Second)
		h.second.lead(h.standby)
		h.pause(time.Second)
	}
}

// stallStandby has the standby show what it does for longer than it may.
func (h *chaoticHosts) stallStandby() {
	conn, err := pgx.Connect(h.t.Context(), h.standby.DSN(h.site.database))
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range []string{"SELECT pg_wal_replay_pause()", "SELECT pg_wal_replay_resume()"} {
		if _, err := conn.Exec(h.t.Context(), sql); err != nil {
			h.t.Fatal(err)
		}
		h.pause(2 * hostsStaleness)
	}
}

// flapPrimary has the names of the primary lead there and nowhere in turn.
func (h *chaoticHosts) flapPrimary() {
	h.away(func() {
		for range 4 {
			h.owner.lead(nil)
			h.first.lead(nil)
			h.pause(1500 * time.Millisecond)
			h.first.lead(h.site.server)
			h.owner.lead(h.site.server)
			h.pause(time.Second)
		}
	})
}

// promoteTheWrongOne makes the standby a second primary, in which what is published is of another world.
func (h *chaoticHosts) promoteTheWrongOne() {
	if err := h.standby.Promote(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.falsify()
	h.pause(4 * time.Second)
	h.newStandby()
}

// falsify changes a promoted standby.
func (h *chaoticHosts) falsify() {
	conn, err := pgx.Connect(h.t.Context(), h.standby.DSN(h.site.database))
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(h.t.Context(), "UPDATE people SET n = -1"); err != nil {
		h.t.Fatal(err)
	}
}

// misleadTheOwner leads the owner to a promoted standby, and back.
func (h *chaoticHosts) misleadTheOwner() {
	if err := h.standby.Promote(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.away(func() {
		h.world.set(func() { h.world.misled = true })
		h.owner.lead(h.standby)
		h.pause(6 * time.Second)
		h.owner.lead(h.site.server)
		h.world.set(func() { h.world.misled, h.world.settled = false, time.Now() })
	})
	h.pause(3 * time.Second)
	h.newStandby()
}

// stricter publishes the table under a stricter policy while the standby cannot be reached.
func (h *chaoticHosts) stricter() {
	h.second.lead(nil)
	h.site.replace(h.t, "k: 5", "k: 12")
	eventually(h.t, "the reload is taken over", func() bool { return h.site.kproxy(h.t, "reload").code == 0 })
	h.world.set(func() { h.world.least = 12 })
	h.second.lead(h.standby)
}

// write changes all rows of the right primary, over and over.
func (h *chaoticHosts) write(ctx context.Context) {
	conn, err := pgx.Connect(ctx, h.site.admin)
	if err != nil {
		h.t.Error(err)
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for ctx.Err() == nil {
		if _, err := conn.Exec(ctx, "UPDATE people SET n = n + 1"); err != nil {
			if ctx.Err() == nil {
				h.t.Error(err)
			}
			return
		}
		h.world.committed()
		time.Sleep(200 * time.Millisecond)
	}
}

// read asks as a reader does, over and over, and judges the answers.
func (h *chaoticHosts) read(ctx context.Context) {
	defer func() {
		for _, conn := range h.sessions {
			if conn != nil {
				_ = conn.Close(context.Background())
			}
		}
	}()
	var refused time.Time // since when, with the right primary in reach
	for ctx.Err() == nil {
		begun := time.Now()
		var least int
		var healthy time.Time
		h.world.set(func() { least, healthy = h.world.least, h.world.healthy })
		newest, oldest, smallest, err := h.ask(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			h.refusals++
			if healthy.IsZero() {
				refused = time.Time{}
				break
			}
			if refused.IsZero() || refused.Before(healthy) {
				refused = begun
				if refused.Before(healthy) {
					refused = healthy
				}
			}
			h.longest = max(h.longest, time.Since(refused))
		default:
			h.answers++
			refused = time.Time{}
			if want := h.world.oldest(begun); oldest < want {
				h.t.Errorf("a statement shows change %d to %d, when %d were committed %v before", oldest, newest, want, hostsStaleness)
			}
			if smallest < least {
				h.t.Errorf("a class of %d records is shown under k = %d", smallest, least)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ask returns the newest and the oldest change that a statement is shown, and the size of the smallest class. Half of
// the sessions are new ones, the others go on until they fail.
func (h *chaoticHosts) ask(ctx context.Context) (newest, oldest, smallest int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	i := h.asked % len(h.sessions)
	h.asked++
	defer func() {
		if conn := h.sessions[i]; conn != nil && (err != nil || i == 0) {
			_ = conn.Close(context.WithoutCancel(ctx))
			h.sessions[i] = nil
		}
	}()
	if h.sessions[i] == nil {
		if h.sessions[i], err = pgx.Connect(ctx, h.site.url()); err != nil {
			h.sessions[i] = nil
			return 0, 0, 0, err
		}
	}
	err = h.sessions[i].QueryRow(ctx, "SELECT max(n), min(n), (SELECT min(c) FROM (SELECT count(*) AS c FROM people GROUP BY age) g) FROM people").Scan(&newest, &oldest, &smallest)
	return newest, oldest, smallest, err
}
