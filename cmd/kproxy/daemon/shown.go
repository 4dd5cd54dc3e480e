package daemon

import (
	"sync/atomic"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
)

// shown is what other goroutines know of [served]. The watch goroutine writes it.
type shown struct {
	// broken are the tables and readable relations about which a check found errors.
	broken atomic.Pointer[map[catalog.Name]inspect.Report]
	tables atomic.Int64 // protected tables that readers can read
	// table is one of them, nil for none.
	table atomic.Pointer[catalog.Name]
}

// conditions returns those of the protected tables as this process serves them, nil before
// replication is prepared. Any goroutine may call it.
func (d *Daemon) conditions() map[catalog.Name]status.Condition {
	if !d.metrics.prepared.Load() {
		return nil
	}
	var broken map[catalog.Name]inspect.Report
	if found := d.shown.broken.Load(); found != nil {
		broken = *found
	}
	return status.Conditions(d.config().Policy, d.syncer.Status(), broken)
}

// publishes reports whether readers can read a table. Any goroutine may call it.
func (d *Daemon) publishes(table catalog.Name) bool {
	return d.conditions()[table].State == status.StatePublished
}

// unserved returns the tables that this process has withdrawn and that wait for the operator,
// in the configuration's order, without what is wrong with them: whoever may connect to the
// database may hear the answer.
func (d *Daemon) unserved() []string {
	names, conditions := []string{}, d.conditions()
	for _, t := range d.config().Policy.Tables {
		if conditions[t.Table].NeedsOperator() {
			names = append(names, t.Table.String())
		}
	}
	return names
}
