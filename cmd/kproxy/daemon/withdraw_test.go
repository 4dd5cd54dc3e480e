package daemon

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

func TestWithdrawals(t *testing.T) {
	t.Parallel()
	waits := catalog.Name{Schema: "public", Relation: "waits"}
	refuses := catalog.Name{Schema: "public", Relation: "refuses"}
	guarded := catalog.Name{Schema: "public", Relation: "guarded"}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{
		{Table: waits, Unpublishable: catalog.Withhold, Constraints: []privacy.Spec{{K: 5}}},
		{Table: refuses, Unpublishable: catalog.Refuse, Constraints: []privacy.Spec{{K: 5}}},
		{Table: guarded, Unpublishable: catalog.Refuse, Constraints: []privacy.Spec{{K: 5}}, Updates: catalog.Updates{Mode: catalog.Guarded}},
	}}
	few := map[catalog.Name]ksync.TableStatus{
		waits: {Records: 3, Withheld: 3}, refuses: {Records: 3, Withheld: 3},
		guarded: {Records: 30, Waiting: 3, Expired: 2}, // others are published
	}

	if w := withdrawals(policy, ksync.Status{State: ksync.Streaming}); len(w) != 0 {
		t.Errorf("withdrawn without a reason: %v", w)
	}
	w := withdrawals(policy, ksync.Status{State: ksync.Streaming, Tables: few})
	if len(w) != 1 || !strings.Contains(w[refuses], "5-anonymity") {
		t.Errorf("withheld records withdraw %v, want the table that refuses, with its constraint", w)
	}
	few[guarded] = ksync.TableStatus{Records: 3, Withheld: 3, Waiting: 3}
	if w := withdrawals(policy, ksync.Status{State: ksync.Streaming, Tables: few}); len(w) != 2 || !strings.Contains(w[guarded], "its records wait") {
		t.Errorf("a guarded table of which nothing is published withdraws %v", w)
	}
	// A server out of reach leaves the release as it was: still safe to read.
	if w := withdrawals(policy, ksync.Status{State: ksync.Reconnecting}); len(w) != 0 {
		t.Errorf("reconnecting withdraws %v", w)
	}
	stopped := ksync.Status{State: ksync.Stopped, Reason: "secret reason"}
	w = withdrawals(policy, stopped)
	if len(w) != 3 || strings.Contains(w[waits]+w[refuses]+w[guarded], "secret") {
		t.Errorf("a stopped replication withdraws %v, want all tables, the reason left to the operator", w)
	}
}
