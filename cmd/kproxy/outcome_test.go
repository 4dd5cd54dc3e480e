package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/config"
)

// TestErrorsAndExitCodes holds every kind of error to its code, its exit code and the one
// form in which scripts get it.
func TestErrorsAndExitCodes(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	covered := make(map[string]bool)
	for _, test := range []struct {
		ctx  context.Context
		err  error
		code string
		exit int
	}{
		{t.Context(), usageError{errors.New("x")}, codeUsage, 2},
		{t.Context(), unusable(config.Errors{{File: "f", Line: 3, What: "w", Fix: "x"}}), codeConfiguration, 1},
		{t.Context(), failure{codeConnection, "h", errors.New("x")}, codeConnection, 1},
		{t.Context(), fmt.Errorf("doing: %w", failure{codeCheck, "h", errors.New("x")}), codeCheck, 1},
		{t.Context(), failure{codeUnproven, "h", errors.New("x")}, codeUnproven, 1},
		{t.Context(), failure{codeRefused, "h", errors.New("x")}, codeRefused, 1},
		{t.Context(), context.DeadlineExceeded, codeTimeout, 1},
		{t.Context(), failure{codeExists, "h", errors.New("x")}, codeExists, 1},
		{t.Context(), failure{codeMissing, "h", errors.New("x")}, codeMissing, 1},
		{t.Context(), errNeeded, codeNeeded, 3},
		{over, context.Canceled, codeInterrupted, 1},
		{t.Context(), errors.New("x"), codeFailed, 1},
	} {
		p := problemOf(test.ctx, test.err, &cobra.Command{Use: "c"})
		covered[p.Code] = true
		if p.Code != test.code || p.exitCode() != test.exit || p.Message == "" {
			t.Errorf("%v becomes %+v, with exit code %d", test.err, p, p.exitCode())
		}
		var text strings.Builder
		p.write(&text, true)
		var got map[string]map[string]any
		if err := json.Unmarshal([]byte(text.String()), &got); err != nil || got["error"]["code"] != test.code || got["error"]["hint"] == nil || got["error"]["message"] == nil {
			t.Errorf("%v is written as %s", test.err, text.String())
		}
	}
	for _, c := range errorCodes {
		if !covered[c.code] {
			t.Errorf("%s is documented, and nothing ends with it", c.code)
		}
		delete(covered, c.code)
	}
	if len(covered) > 0 {
		t.Errorf("not documented: %v", covered)
	}
}

// Every command can write JSON, be it only its errors, and those that need a configuration say so
// alike.
func TestFlagsAreConsistent(t *testing.T) {
	t.Setenv(configEnv, "")
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		path := c.CommandPath()
		if strings.HasPrefix(path, "kproxy completion") {
			return
		}
		if c.Flags().Lookup("json") == nil && path != "kproxy generate" && path != "kproxy help" {
			t.Errorf("%s has no --json", path)
		}
		if f := c.Flags().Lookup("config"); f != nil && f.Shorthand != "c" {
			t.Errorf("%s: --config is not -c", path)
		}
		if f := c.Flags().Lookup("quiet"); f != nil && f.Shorthand != "q" {
			t.Errorf("%s: --quiet is not -q", path)
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s is introduced by %q", path, c.Short)
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRoot())
}
