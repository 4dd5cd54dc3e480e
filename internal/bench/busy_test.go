package main

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// TestBusyByCommand: what one command was disturbed in says nothing against the figures of
// another, nor for them.
func TestBusyByCommand(t *testing.T) {
	t.Parallel()
	quiet, disturbed := result.Command{Line: "speed lookup", Others: busy}, result.Command{Line: "speed tls idle", Others: 0.4}
	for _, c := range []struct {
		name     string
		commands []result.Command
		says     string // of the warning
		lookup   bool   // ratios of lookups are spoiled
		tls      bool
		unnamed  bool // those of which it is not known what measured them
	}{
		{"quiet", []result.Command{quiet}, "", false, false, false},
		{"one is busy", []result.Command{quiet, disturbed}, "the commands marked below", false, true, true},
		{"all are busy", []result.Command{disturbed}, "of this section", true, true, true},
	} {
		s := &result.Section{Name: "proxy", Commands: c.commands}
		var warning, machine strings.Builder
		writeBusy(&warning, s)
		if c.says == "" && warning.Len() > 0 || !strings.Contains(warning.String(), c.says) {
			t.Errorf("%s: the page says %q", c.name, &warning)
		}
		writeMachine(&machine, s)
		if marked := strings.Count(machine.String(), ": busy\n"); marked != strings.Count(machine.String(), "others 40 %") {
			t.Errorf("%s: %d commands are marked:\n%s", c.name, marked, &machine)
		}
		measured := map[string]*result.Section{"proxy": s}
		for word, spoiled := range map[string]bool{"lookup": c.lookup, "tls": c.tls, "": c.unnamed} {
			if got := (claim{section: "proxy", against: "pgbouncer", word: word}).spoiled(measured); got != spoiled {
				t.Errorf("%s: a ratio by %q is spoiled: %t", c.name, word, got)
			}
		}
		if (claim{section: "proxy", word: "tls"}).spoiled(measured) {
			t.Errorf("%s: what is no ratio is spoiled", c.name)
		}
	}
}
