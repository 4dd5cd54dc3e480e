package daemon

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/catalog"
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
	return nil
}

// resolve gives the rewriter a fresh snapshot when something in it changed;
// relations are nil when they were not looked at again. A table that is withdrawn
// ends the sessions, which may have prepared statements and opened cursors on it.
func (d *Daemon) resolve(relations []catalog.Relation) {
	withdrawn := withdrawals(d.config.Policy, d.syncer.Status())
	first, withdraws := d.withdrawn == nil, !maps.Equal(withdrawn, d.withdrawn)
	moved := relations != nil && !slices.EqualFunc(relations, d.relations, sameRelation)
	if !first && !withdraws && !moved {
		return
	}
	if relations != nil {
		d.relations = relations
	}
	d.withdrawn = withdrawn
	d.rewriter.SetSnapshot(catalog.NewSnapshot(d.config.Policy, d.relations, withdrawn))
	if withdraws && len(withdrawn) > 0 {
		d.proxy.EndSessions()
	}
}

func sameRelation(a, b catalog.Relation) bool { return a.Name == b.Name && a.OID == b.OID }

// withdrawals names the tables whose guarantees cannot be given, with reasons
// in words that tell nothing about the data.
func withdrawals(policy catalog.Policy, status ksync.Status) map[catalog.Name]string {
	withdrawn := make(map[catalog.Name]string)
	for _, t := range policy.Tables {
		if status.State == ksync.Stopped {
			withdrawn[t.Table] = "its release can no longer be kept in step with its source; the operator has been told why"
			continue
		}
		if table := status.Tables[t.Table]; t.Unpublishable == catalog.Refuse && table.Withheld > 0 {
			why := "its records cannot meet its constraints at the moment (%v)"
			if t.Updates.Mode == catalog.Guarded {
				why = "its records wait, or cannot meet its constraints (%v)"
			}
			withdrawn[t.Table] = fmt.Sprintf(why, t.Constraints)
		}
	}
	return withdrawn
}
