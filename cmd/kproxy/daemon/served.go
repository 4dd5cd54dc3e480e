package daemon

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	ksync "github.com/kproxy/kproxy/sync"
)

// served is what readers get, and why they do not get the rest. It belongs to one goroutine
// at a time.
type served struct {
	logger *slog.Logger
	// publications are those that replication was given.
	publications []catalog.Publication
	// broken are the tables and readable relations, and uncallable the functions, about which
	// a check found errors.
	broken, uncallable map[catalog.Name]inspect.Report

	// relations, names, withdrawn, released and unaccepted are in the rewriter's snapshot.
	// Withdrawn are names that cannot be read, with reasons for readers, released the tables by
	// the numbers of their generations, and unaccepted the functions that clients are refused.
	relations []catalog.Relation
	names     catalog.ServerNames
	withdrawn map[catalog.Name]string
	// audiences have what cannot be read by audiences, by their names.
	audiences  map[string]map[catalog.Name]string
	released   map[int64]catalog.Name
	unaccepted map[catalog.Name]bool

	readable map[seenName]catalog.OID // what readers may have read
	logged   map[subject]string       // problems of single names, as logged
	applies  bool                     // as logged
}

// seenName is a name as an audience, or the policy's own readers, see it.
type seenName struct {
	audience string
	name     catalog.Name
}

// subject is a name that the log speaks of.
type subject struct {
	kind string
	name catalog.Name
}

// attribute is the name as the log has it.
func (s subject) attribute() slog.Attr {
	if s.kind == "function" {
		return slog.Any("function", s.name)
	}
	return slog.Any("relation", s.name)
}

// adopt takes what an examination of the database found.
func (s *served) adopt(found check.Fit) {
	s.relations, s.publications = found.Relations, found.Publications
	s.broken, s.uncallable = found.Broken, found.Functions
}

// update takes what decides what readers get, and reports whether any of it changed, or the
// views did. Relations are nil if they were not read again.
func (s *served) update(relations []catalog.Relation, withdrawn map[catalog.Name]string, audiences map[string]map[catalog.Name]string, released map[int64]catalog.Name, viewsChanged bool) bool {
	first := s.withdrawn == nil
	moved := viewsChanged || relations != nil && !slices.EqualFunc(relations, s.relations, sameRelation)
	if !first && !moved && maps.Equal(withdrawn, s.withdrawn) && maps.EqualFunc(audiences, s.audiences, maps.Equal) && maps.Equal(released, s.released) {
		return false
	}
	if relations != nil {
		s.relations = relations
	}
	s.withdrawn, s.audiences, s.released = withdrawn, audiences, released
	return true
}

func sameRelation(a, b catalog.Relation) bool { return a.Name == b.Name && a.OID == b.OID }

// refuseFunctions takes the functions that are not what was accepted. It returns those that readers
// lose, as text, and reports whether there are others than before.
func (s *served) refuseFunctions(unaccepted []check.UnacceptedFunction) (lost []string, changed bool) {
	before := s.unaccepted
	s.unaccepted = make(map[catalog.Name]bool, len(unaccepted))
	for _, u := range unaccepted {
		s.unaccepted[u.Function] = true
	}
	if maps.Equal(before, s.unaccepted) {
		return nil, false
	}
	uncallable := make(map[catalog.Name]inspect.Report)
	for name, report := range s.uncallable {
		report = slices.DeleteFunc(slices.Clone(report), func(f inspect.Finding) bool { return f.Code == inspect.CodeFunctionChanged })
		if len(report) > 0 {
			uncallable[name] = report
		}
	}
	for _, u := range unaccepted {
		uncallable[u.Function] = append(uncallable[u.Function], u.Finding())
		if !before[u.Function] {
			lost = append(lost, u.Function.String())
		}
	}
	s.uncallable = uncallable
	return lost, true
}

// renew works out what readers can read under a policy. It returns the number of protected
// tables among that, one of them (nil for none), and the names that readers lose. The relations are those
// that they can find.
func (s *served) renew(policy catalog.Policy, relations []catalog.Relation) (tables int64, one *catalog.Name, lost []seenName) {
	before := s.readable
	s.readable = make(map[seenName]catalog.OID)
	oids := make(map[catalog.Name]catalog.OID, len(relations))
	for _, r := range relations {
		oids[r.Name] = r.OID
	}
	serve := func(name catalog.Name) bool {
		_, gone := s.withdrawn[name]
		if gone || oids[name] == 0 {
			return false
		}
		s.readable[seenName{name: name}] = oids[name]
		return true
	}
	for _, a := range policy.Audiences {
		seen, _ := policy.For(a.Name)
		withdrawn := s.audiences[a.Name]
		for _, name := range append(protected(seen), seen.Readable...) {
			if _, gone := withdrawn[name]; !gone && oids[name] != 0 {
				s.readable[seenName{a.Name, name}] = oids[name]
			}
		}
	}
	for _, name := range policy.Readable {
		serve(name)
	}
	for _, t := range policy.Tables {
		if serve(t.Table) {
			tables++
			if one == nil {
				one = &t.Table
			}
		}
	}
	for seen, oid := range before {
		if s.readable[seen] != oid {
			lost = append(lost, seen)
		}
	}
	return tables, one, lost
}

// log writes, once each, that this process begins to apply changes, what is wrong with a
// single name and how it is mended, and that nothing is any more.
func (s *served) log(policy catalog.Policy, status ksync.Status) {
	if applies := status.State == ksync.Streaming; applies != s.applies && (applies || status.State == ksync.Following) {
		if s.applies = applies; applies {
			s.logger.Info("this process applies the changes now", "position", status.Position.String())
		}
	}
	problems := make(map[subject]string)
	withdrawn := func(kind string, name catalog.Name, what, fix string) {
		of := subject{kind, name}
		if problems[of] = what; s.logged[of] != what {
			s.logger.Error("a "+kind+" is withdrawn; all else is served", of.attribute(), "reason", what, "fix", check.OneLine(fix))
		}
	}
	for _, t := range policy.Tables {
		table := status.Tables[t.Table]
		if table.State == ksync.Halted { // what else a check finds of it then has the same cause
			withdrawn("table", t.Table, table.Problem, table.Fix)
		} else if report := s.broken[t.Table]; len(report) > 0 {
			what, fix := check.Problem(report)
			withdrawn("table", t.Table, what, fix)
		} else if of := (subject{"table", t.Table}); table.State == ksync.Unpublished && s.logged[of] != "" {
			problems[of] = s.logged[of] // replication looks at it again, and has not found it well yet
		}
	}
	listed := func(kind string, names []catalog.Name, broken map[catalog.Name]inspect.Report) {
		for _, name := range names {
			if report := broken[name]; len(report) > 0 {
				what, fix := check.Problem(report)
				withdrawn(kind, name, what, fix)
			}
		}
	}
	listed("relation", policy.Readable, s.broken)
	listed("function", policy.Functions, s.uncallable)
	for of := range s.logged {
		configured := upstream.Protects(policy, of.name) || slices.Contains(policy.Readable, of.name) || slices.Contains(policy.Functions, of.name)
		if _, still := problems[of]; !still && configured {
			s.logger.Info("a "+of.kind+" is well again", of.attribute())
		}
	}
	s.logged = problems
}

// resolve gives the rewriter a new snapshot if something in it changed. Relations are nil if
// they were not read again. A table that is withdrawn after it was served ends the sessions
// that have read it: they may have prepared statements and opened cursors.
func (d *Daemon) resolve(relations []catalog.Relation) {
	replication, policy := d.syncer.Status(), d.config().Policy
	d.served.log(policy, replication)
	broken := d.served.broken
	d.shown.broken.Store(&broken)
	withdrawn := status.Withdrawals(policy, replication, d.served.broken)
	audiences := status.AudienceWithdrawals(policy, replication)
	d.doubt(policy, withdrawn, audiences)
	d.views.Withdraw(policy, withdrawn, audiences)
	d.descriptions.Write(d.config(), replication, d.served.publications, withdrawn)
	if !d.served.update(relations, withdrawn, audiences, status.Released(replication), d.views.Changed()) {
		return
	}
	// A standby may still show what was published under another policy.
	d.proxy.NotBefore(time.Now())
	d.referrer.wakeUp()
	d.renew()
}

// doubt has the views over tables examined again that are not withdrawn any more: those of the policy's
// own readers, and of the audiences that could not read a table.
func (d *Daemon) doubt(policy catalog.Policy, withdrawn map[catalog.Name]string, audiences map[string]map[catalog.Name]string) {
	for table := range d.served.withdrawn {
		if _, still := withdrawn[table]; !still {
			d.views.Doubt("", table)
		}
	}
	for _, a := range policy.Audiences {
		for table := range d.served.audiences[a.Name] {
			_, nobody := withdrawn[table]
			if _, still := audiences[a.Name][table]; !still && !nobody {
				d.views.Doubt(a.Name, table)
			}
		}
	}
}

// renew tells the rewriter what is served now, and ends the sessions that have read what no
// longer is.
func (d *Daemon) renew() {
	d.gate.SetSnapshots(d.snapshots())
	tables, one, lost := d.served.renew(d.config().Policy, d.relations())
	d.shown.tables.Store(tables)
	d.shown.table.Store(one)
	for _, seen := range lost {
		of := func(reader string) bool { return gate.AudienceOf(d.config(), reader) == seen.audience }
		d.proxy.EndReaders(of, seen.name.String())
	}
}

// relations are those that clients can find, views at a source in a database of its own among them.
func (d *Daemon) relations() []catalog.Relation {
	return catalog.WithApart(d.served.relations, d.views.Found())
}

// snapshots are what the rewriters are to know now.
func (d *Daemon) snapshots() gate.Snapshots {
	s, policy, relations := &d.served, d.config().Policy, d.relations()
	of := func(policy catalog.Policy, withdrawn map[catalog.Name]string) *catalog.Snapshot {
		return catalog.NewSnapshot(policy, relations, withdrawn).WithReleased(s.released).WithNames(s.names).WithoutFunctions(s.unaccepted)
	}
	all := gate.Snapshots{Own: d.views.Extend(of(policy, s.withdrawn), s.withdrawn), Audiences: make(map[string]*catalog.Snapshot, len(policy.Audiences))}
	for _, a := range policy.Audiences {
		seen, _ := policy.For(a.Name)
		withdrawn := s.audiences[a.Name]
		all.Audiences[a.Name] = d.views.ExtendFor(of(seen, withdrawn), withdrawn)
	}
	return all
}

// protected are the names of a policy's protected tables.
func protected(policy catalog.Policy) []catalog.Name {
	names := make([]catalog.Name, len(policy.Tables))
	for i, t := range policy.Tables {
		names[i] = t.Table
	}
	return names
}
