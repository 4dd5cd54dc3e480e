package daemon

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// findings are what a check of the database has to say about serving.
type findings struct {
	// grave keep everything from being served, and alone a single name.
	grave, alone []Need
	// views are the fixes of views that cannot be published.
	views map[string]string
}

// readFindings checks the database as a process that serves does from time to time.
func (s *Stored) readFindings(ctx context.Context, c *config.Config) {
	found, err := Check(ctx, c)
	if err != nil {
		s.found.grave = []Need{{fmt.Sprintf("what serving rests on could not be checked: %v", err), "see what 'kproxy check' says"}}
		return
	}
	s.found = s.judge(c.Policy, found.Report)
}

// judge makes needs of the findings. Tables that replication has halted tell of
// themselves, and so does replication of what keeps it from starting.
func (s *Stored) judge(policy catalog.Policy, report inspect.Report) findings {
	found := findings{views: make(map[string]string)}
	errs := parted(policy, report.Errors())
	for _, f := range errs.all {
		switch {
		case slices.Contains(someOnly, f.Code):
			found.alone = append(found.alone, Need{f.What, f.Fix})
		case slices.Contains(startingOnly, f.Code):
		default:
			what := f.What
			if f.Table != (catalog.Name{}) {
				what = f.Table.String() + ": " + what
			}
			found.grave = append(found.grave, Need{"the audit fails, so that nothing is served: " + what, f.Fix})
		}
	}
	alone := func(kind, state string, name catalog.Name, report inspect.Report) {
		if len(report) > 0 {
			what, fix := problem(report)
			found.alone = append(found.alone, Need{kind + " " + name.String() + " " + state + ": " + what, fix})
		}
	}
	for i, t := range policy.Tables {
		if i >= len(s.Tables) || s.Tables[i].State != ksync.Halted.String() {
			alone("table", "is withdrawn", t.Table, errs.broken[t.Table])
		}
	}
	for _, name := range policy.Readable {
		alone("readable", "is withdrawn", name, errs.broken[name])
	}
	for _, name := range policy.Functions {
		alone("function", "cannot be called", name, errs.functions[name])
	}
	for _, f := range report {
		if f.Code == codeViewProblem {
			found.views[f.Table.String()] = f.Fix
		}
	}
	return found
}
