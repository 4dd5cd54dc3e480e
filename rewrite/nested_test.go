package rewrite

import (
	"strings"
	"testing"
)

// TestNestedCallsGrowLinearly nests each function that is rewritten in each of its arguments, beside
// constants and columns: what is sent grows by as much with each level. Otherwise some hundred
// bytes could take all memory.
func TestNestedCallsGrowLinearly(t *testing.T) {
	t.Parallel()
	r := unbounded()
	size := func(wrap func(string) string, innermost string, levels int) int {
		text := innermost
		for range levels {
			text = wrap(text)
		}
		out, err := r.text("SELECT " + text + " FROM pg_class AS c")
		if err != nil {
			return 0
		}
		return len(out)
	}
	grown := 0
	grows := func(what string, wrap func(string) string) {
		for _, innermost := range []string{"'a'", "relname"} {
			some, more := size(wrap, innermost, 4), size(wrap, innermost, 7)
			if more == 0 {
				continue // refused
			}
			grown++
			if more > 2*some+400 { // some levels are left out
				t.Errorf("%s in %s: 4 and 7 levels have %d and %d bytes", innermost, what, some, more)
			}
		}
	}
	for name := range specials {
		for arity := 1; arity <= 3; arity++ {
			for place := range arity {
				for _, beside := range []string{"'patients'", "relname"} {
					arguments := make([]string, arity)
					for i := range arguments {
						arguments[i] = beside
					}
					arguments[place] = "%"
					call := name + "(" + strings.Join(arguments, ", ") + ")"
					grows(call, func(inner string) string { return strings.Replace(call, "%", inner, 1) })
				}
			}
		}
	}
	for _, form := range []string{
		"(%)::regclass", "(%)::regclass::text", "(%)::regtype::text", "(%)::regproc::text", "(%)::oid[]::regtype[]::text[]", "(% IN (1, %))", "(% BETWEEN SYMMETRIC 1 AND 2)",
		"(SELECT typinput::text FROM pg_type WHERE typinput::text = %)", "(SELECT c.oid FROM pg_class c WHERE c.relname = %)", "(CASE % WHEN 1 THEN 2 END)", "(%).relname", "ROW(%, 1)",
		"(% AT TIME ZONE 'UTC')", "overlay(% PLACING 'a' FROM 1)", "quote_literal(%)", "(% || '')", "(%, 1) OVERLAPS (1, 2)",
	} {
		grows(form, func(inner string) string { return strings.Replace(form, "%", inner, 1) })
	}
	if grown < 500 {
		t.Errorf("only %d forms were sent", grown)
	}
}
