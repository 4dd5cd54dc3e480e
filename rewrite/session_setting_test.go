package rewrite

import (
	"fmt"
	"testing"
)

// modelSetting is what PostgreSQL's manual says of SET, SET LOCAL and savepoints, the simple
// way: what holds now, and what holds once the transaction has committed.
type modelSetting struct{ now, later value }

// TestSettingsFollowTheModel has a setting and the model go through every short sequence of
// what a transaction may do, and compares them after each step.
func TestSettingsFollowTheModel(t *testing.T) {
	t.Parallel()
	start := value{text: "at startup"}
	var try func(s setting, model []modelSetting, done string, left int)
	try = func(s setting, model []modelSetting, done string, left int) {
		level, top := len(model), model[len(model)-1]
		if s.now != top.now {
			t.Fatalf("after%s the value is %v, not %v", done, s.now, top.now)
		}
		if got := s.end(1, true); got.now != top.later || got.stack != nil {
			t.Fatalf("after%s COMMIT leaves %v, not %v", done, got, top.later)
		}
		if got := s.end(1, false); got.now != start || got.stack != nil {
			t.Fatalf("after%s ROLLBACK leaves %v", done, got)
		}
		if left == 0 {
			return
		}
		to := value{text: fmt.Sprint("by step ", left), session: true}
		with := func(last modelSetting) []modelSetting { return append(model[:level-1:level-1], last) }
		try(s.set(to, false, level), with(modelSetting{to, to}), done+" SET", left-1)
		try(s.set(to, true, level), with(modelSetting{to, top.later}), done+" SET LOCAL", left-1)
		try(s, append(model[:level:level], top), done+" SAVEPOINT", left-1)
		for to := 2; to <= level; to++ {
			target := fmt.Sprint(" level ", to)
			try(s.end(to, true), append(model[:to-2:to-2], top), done+" RELEASE"+target, left-1)
			try(s.end(to, false), model[:to-1:to-1], done+" ROLLBACK TO"+target, left-1)
		}
	}
	try(setting{reset: start.text, now: start}, []modelSetting{{start, start}}, "", 8)
}
