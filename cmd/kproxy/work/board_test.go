package work

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestBoard follows a table from waiting to being published, in the process that applies.
func TestBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b Board
		a := catalog.Name{Schema: "public", Relation: "a"}
		status := ksync.Status{Session: 7, Tables: map[catalog.Name]ksync.TableStatus{a: {State: ksync.Unpublished}}}
		if w := b.Of(a, status); w == nil || w.String() != "waiting" {
			t.Errorf("before anything is done, it is %+v", w)
		}
		b.Show(ksync.Progress{Table: a, Stage: "reading", Done: 0, Total: 1000})
		time.Sleep(10 * time.Second)
		b.Show(ksync.Progress{Table: a, Stage: "reading", Done: 251, Total: 1000})
		if w := b.Of(a, status); w.String() != "reading 25%, 30s left" || w.Records != 250 {
			t.Errorf("it is %q, %+v", w, w)
		}
		time.Sleep(time.Hour) // a stage that says nothing goes on
		b.Show(ksync.Progress{Table: a, Stage: "loading", Done: 123456})
		if w := b.Of(a, status); w.String() != "loading, about 120000 records" {
			t.Errorf("it is %q", w)
		}
		status.Tables[a] = ksync.TableStatus{State: ksync.Unpublished, Problem: "a transaction is open", Fix: "end it"}
		if w := b.Of(a, status); w.String() != "blocked" || w.Problem == "" || w.Fix != "end it" {
			t.Errorf("it is %+v", w)
		}
		follows := status
		follows.Session = 0
		status.Tables[a] = ksync.TableStatus{State: ksync.Published}
		if b.Of(a, status) != nil || b.Of(a, follows) != nil {
			t.Error("it is worked on by nobody")
		}
		status.Tables[a] = ksync.TableStatus{State: ksync.Published, Preparing: true}
		if w := b.Of(a, status); w == nil || w.Stage != "waiting" {
			t.Errorf("what is made anew is %+v", w)
		}
	})
}
