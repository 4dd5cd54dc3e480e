package daemon

import (
	"maps"
	"slices"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	ksync "github.com/kproxy/kproxy/sync"
)

// unavailable is what clients are told while the audit fails. The findings are
// for the operator's log only: they name hidden objects.
type unavailable struct{}

func (*unavailable) Error() string {
	return "kproxy cannot prove that protected data is out of reach and has stopped serving"
}

// SQLState is cannot_connect_now: trying again later may help.
func (*unavailable) SQLState() string { return "57P03" }

// Hint tells the analyst whom to turn to.
func (*unavailable) Hint() string {
	return "The operator finds the reason in kproxy's log and with 'kproxy check'."
}

func (d *Daemon) available() error {
	if u := d.unavailable.Load(); u != nil {
		return u
	}
	return d.observed.audited()
}

// resolve gives the rewriter a fresh snapshot when something in it changed;
// relations are nil when they were not looked at again. A table that is withdrawn
// after it was served ends the sessions that have read it: they may have prepared
// statements and opened cursors.
func (d *Daemon) resolve(relations []catalog.Relation) {
	status := d.syncer.Status()
	d.tell(status)
	broken := d.broken
	d.observed.broken.Store(&broken)
	withdrawn := withdrawals(d.config.Policy, status, d.broken)
	first := d.withdrawn == nil
	for table := range d.withdrawn {
		if _, still := withdrawn[table]; !still {
			d.views.doubt(table)
		}
	}
	d.views.withdraw(d.config.Policy.Readable, withdrawn)
	d.describe(status, withdrawn)
	moved := relations != nil && !slices.EqualFunc(relations, d.relations, sameRelation) || !slices.EqualFunc(d.views.found, d.known, sameView)
	released := released(status)
	if !first && !moved && maps.Equal(withdrawn, d.withdrawn) && maps.Equal(released, d.released) {
		return
	}
	if relations != nil {
		d.relations = relations
	}
	d.withdrawn, d.released = withdrawn, released
	// A standby may still show what was published under another policy.
	d.proxy.NotBefore(time.Now())
	d.referrer.hurry()
	d.renew()
}

// renew has the rewriter know what is served now, and ends the sessions that have read
// what no longer is.
func (d *Daemon) renew() {
	d.gate.rewriter.Load().SetSnapshot(d.snapshot())
	before := d.served
	d.served = make(map[catalog.Name]catalog.OID)
	oids := make(map[catalog.Name]catalog.OID, len(d.relations))
	for _, r := range d.relations {
		oids[r.Name] = r.OID
	}
	serve := func(name catalog.Name) {
		if _, gone := d.withdrawn[name]; !gone && oids[name] != 0 {
			d.served[name] = oids[name]
		}
	}
	for _, name := range d.config.Policy.Readable {
		serve(name)
	}
	unprotected := len(d.served)
	d.observed.readable.Store(nil)
	for _, t := range d.config.Policy.Tables {
		serve(t.Table)
		if _, served := d.served[t.Table]; served && d.observed.readable.Load() == nil {
			d.observed.readable.Store(&t.Table)
		}
	}
	d.observed.published.Store(int64(len(d.served) - unprotected))
	var gone []catalog.Name
	for name, oid := range before {
		if d.served[name] != oid {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		d.proxy.EndReaders(catalog.Texts(gone)...)
	}
}

func (d *Daemon) snapshot() *catalog.Snapshot {
	d.known = d.views.found
	d.views.snapshot = catalog.NewSnapshot(d.config.Policy, d.relations, d.withdrawn).WithViews(d.known, d.withdrawn).WithReleased(d.released).WithNames(d.names)
	return d.views.snapshot
}

// released are the tables by the numbers of their generations, by which plans name
// what their releases are made of.
func released(status ksync.Status) map[int64]catalog.Name {
	tables := make(map[int64]catalog.Name, len(status.Tables))
	for name, t := range status.Tables {
		if t.Generation != 0 {
			tables[t.Generation] = name
		}
	}
	return tables
}

func sameRelation(a, b catalog.Relation) bool { return a.Name == b.Name && a.OID == b.OID }

// sameView tells whether clients find the same under a view's name.
func sameView(a, b catalog.View) bool {
	return a.Name == b.Name && a.OID == b.OID && a.Kind == b.Kind && a.Listed == b.Listed
}

// What readers are told of a relation that they cannot read, in words that tell nothing
// about the data.
const (
	beingPublished = "It is being published; try again later."
	notGranted     = "kproxy may not read it at the moment; the operator has been told why."
	outdatedHere   = "The kproxy that serves this session has another policy than number %d, which is in force; the operator has been told."
	notInStep      = "Its release can no longer be kept in step with its source; the operator has been told why."
)

// withdrawals names the tables whose guarantees cannot be given, and the readable relations
// that cannot be read, with reasons for readers.
func withdrawals(policy catalog.Policy, status ksync.Status, broken map[catalog.Name]inspect.Report) map[catalog.Name]string {
	withdrawn := make(map[catalog.Name]string)
	for name, c := range conditionsOf(policy, status, broken) {
		if c.told != "" {
			withdrawn[name] = c.told
		}
	}
	for _, name := range policy.Readable {
		if slices.ContainsFunc(broken[name], func(f inspect.Finding) bool {
			return f.Code == inspect.CodeReadableGrant || f.Code == inspect.CodeTypeFunction
		}) {
			withdrawn[name] = notGranted // one that is gone is told of as such
		}
	}
	return withdrawn
}

// configured tells whether the policy has the name.
func (d *Daemon) configured(name catalog.Name) bool {
	p := d.config.Policy
	return protects(p, name) || slices.Contains(p.Readable, name) || slices.Contains(p.Functions, name)
}

// subject is what the log tells of.
type subject struct {
	kind string
	name catalog.Name
}

// tell puts into the log, once, that this process begins to apply, what is wrong with
// single names and how it is mended, and that nothing is any more.
func (d *Daemon) tell(status ksync.Status) {
	if applies := status.State == ksync.Streaming; applies != d.applies && (applies || status.State == ksync.Following) {
		if d.applies = applies; applies {
			d.Logger.Info("this process applies the changes now", "position", status.Position.String())
		}
	}
	problems := make(map[subject]string)
	withdrawn := func(kind string, name catalog.Name, what, fix string) {
		of := subject{kind, name}
		if problems[of] = what; d.told[of] != what {
			d.Logger.Error("a "+kind+" is withdrawn; all else is served", kind, name, "problem", what, "fix", oneLine(fix))
		}
	}
	for _, t := range d.config.Policy.Tables {
		table := status.Tables[t.Table]
		if report := d.broken[t.Table]; len(report) > 0 {
			what, fix := problem(report)
			withdrawn("table", t.Table, what, fix)
		} else if table.State == ksync.Halted {
			withdrawn("table", t.Table, table.Problem, table.Fix)
		} else if of := (subject{"table", t.Table}); table.State == ksync.Unpublished && d.told[of] != "" {
			problems[of] = d.told[of] // replication looks at it again, and has not found it well yet
		}
	}
	listed := func(kind string, names []catalog.Name, broken map[catalog.Name]inspect.Report) {
		for _, name := range names {
			if report := broken[name]; len(report) > 0 {
				what, fix := problem(report)
				withdrawn(kind, name, what, fix)
			}
		}
	}
	listed("relation", d.config.Policy.Readable, d.broken)
	listed("function", d.config.Policy.Functions, d.uncallable)
	for of := range d.told {
		if _, still := problems[of]; !still && d.configured(of.name) {
			d.Logger.Info("a "+of.kind+" is well again", of.kind, of.name)
		}
	}
	d.told = problems
}
