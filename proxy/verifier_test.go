package proxy

import (
	"testing"

	"github.com/kproxy/kproxy/scram"
)

// TestVerifierIsPostgreSQLs derives what PostgreSQL derives, and gives
// PostgreSQL a verifier to check a password against.
func TestVerifierIsPostgreSQLs(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	for _, password := range []string{"simple", "pässwörd", "ª and \u00ad soft", "Ⅸ", "mixed \u0627a", "\u0221 unassigned"} {
		if _, err := direct.Exec(deadline(t), "DO $do$ BEGIN EXECUTE format('CREATE ROLE scram_test PASSWORD %L', '"+password+"'); END $do$"); err != nil {
			t.Fatal(err)
		}
		var theirs string
		if err := direct.QueryRow(deadline(t), "SELECT rolpassword FROM pg_authid WHERE rolname = 'scram_test'").Scan(&theirs); err != nil {
			t.Fatal(err)
		}
		if _, err := direct.Exec(deadline(t), "DROP ROLE scram_test"); err != nil {
			t.Fatal(err)
		}
		parsed, err := scram.Parse(theirs)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := scram.Derive(password, parsed.Salt, parsed.Iterations)
		if err != nil || ours.String() != theirs {
			t.Errorf("%q: %v, not PostgreSQL's verifier", password, err)
		}
	}
}
