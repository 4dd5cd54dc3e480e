package sync

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// TestErrorsSayWhatToDo reads the errors that need the operator.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	name := catalog.Name{Schema: "public", Relation: "visits"}
	for _, test := range []struct {
		err   error
		cause error
		want  string
	}{
		{&StopError{What: "what", Fix: "fix"}, nil, "what (fix)"},
		{&StopError{What: "what", Fix: "fix", Err: cause}, cause, "what: cause (fix)"},
		{&TableError{Table: name, What: "what", Fix: "fix"}, nil, "table public.visits: what (fix)"},
		{&TableError{Table: name, What: "what", Fix: "fix", Err: cause}, cause, "table public.visits: what: cause (fix)"},
		{internal(cause), cause, "replication met what must not happen: cause (" + fixResync + ")"},
	} {
		if unwrapped := errors.Unwrap(test.err); test.err.Error() != test.want || unwrapped != test.cause { //nolint:errorlint // itself
			t.Errorf("%q, for %v, want %q", test.err, unwrapped, test.want)
		}
	}
	if got := (&TableError{What: "what", Err: cause}).problem(); got != "what: cause" {
		t.Errorf("the problem is %q", got)
	}
	if got := (&TableError{What: "what"}).problem(); got != "what" {
		t.Errorf("the problem is %q", got)
	}
	if got := (&TableError{afresh: true}).kind(); got != publishAfresh || got.request() != askRebuild {
		t.Errorf("a new release is made by %v", got.request())
	}
	if got := (&TableError{}).kind(); got != resynchronize || got.request() != askResync {
		t.Errorf("a difference is made good by %v", got.request())
	}
}

// TestFixesSuitTheError has each error that an operator can do something about say what.
func TestFixesSuitTheError(t *testing.T) {
	t.Parallel()
	refused := func(code string) error { return fmt.Errorf("applying: %w", &pgconn.PgError{Code: code}) }
	for _, test := range []struct {
		err                error
		lasting, transient string // words of what is told where it stays, and where it passes
	}{
		{errors.New("unexpected EOF"), "see the log", "within reach"},
		{fmt.Errorf("reading: %w", &StopError{Fix: "stop"}), "stop", "within reach"},
		{refused(insufficientPrivilege), "'kproxy setup'", "tries again"},
		{refused("53100"), "see the log", "disk is full"},
		{refused("53400"), "see the log", "max_replication_slots"},
		{refused("53300"), "see the log", "max_connections"},
		{refused("40001"), "see the log", "tries again"},
		{refused("28P01"), "see the log", "let the role log in"},
		{refused("28000"), "see the log", "let the role log in"},
		{refused("3D000"), "see the log", "tries again"},
	} {
		if got := fixOf(test.err); !strings.Contains(got, test.lasting) {
			t.Errorf("where %v stays: %s", test.err, got)
		}
		if got := fixTransient(test.err); !strings.Contains(got, test.transient) {
			t.Errorf("where %v passes: %s", test.err, got)
		}
	}
}

// TestRefusedLoginsPass: who may not log in for a while, or finds no database, tries again; refused rights and names need the operator.
func TestRefusedLoginsPass(t *testing.T) {
	t.Parallel()
	for code, passes := range map[string]bool{
		"28000": true, "28P01": true, "3D000": true, "53300": true, "57P03": true,
		"3F000": false, "42501": false, "42P01": false, "22P02": false, "23505": false,
	} {
		refused := fmt.Errorf("applying: %w", &pgconn.PgError{Code: code})
		if got := transient(refused); got != passes {
			t.Errorf("that %s passes is %t", code, got)
		}
		if got := fixTransient(refused); got == "" {
			t.Errorf("of %s nothing is told", code)
		}
		for _, err := range []error{&StopError{Err: refused}, &TableError{Err: refused}} {
			if transient(fmt.Errorf("applying: %w", err)) {
				t.Errorf("%T passes, as %s does", err, code)
			}
		}
	}
}
