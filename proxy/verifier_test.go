package proxy

import (
	"testing"
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
		parsed, err := ParseVerifier(theirs)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := NewVerifier(password, parsed.Salt, parsed.Iterations)
		if err != nil || ours != theirs {
			t.Errorf("%q: %v, not PostgreSQL's verifier", password, err)
		}
	}
}

func TestNewVerifierRefuses(t *testing.T) {
	t.Parallel()
	salt := make([]byte, 16)
	for name, c := range map[string]struct {
		password   string
		salt       []byte
		iterations int
	}{
		"empty password": {"", salt, 4096}, "NUL": {"a\x00b", salt, 4096}, "no salt": {"a", nil, 4096},
		"long salt": {"a", make([]byte, 1025), 4096}, "few iterations": {"a", salt, 4095}, "many iterations": {"a", salt, 10_000_001},
	} {
		if _, err := NewVerifier(c.password, c.salt, c.iterations); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParseVerifier(f *testing.F) {
	key := "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for _, text := range []string{
		testVerifier(), "", "md5abc", "SCRAM-SHA-256$", "SCRAM-SHA-256$4096:$:", "SCRAM-SHA-256$4096:AAAA$AAAA:AAAA",
		"SCRAM-SHA-256$+1:AAAA$" + key + ":" + key, "SCRAM-SHA-256$1:AAAA$" + key + ":" + key + "\n",
		"SCRAM-SHA-256$99999999:AAAA$" + key + ":" + key, "SCRAM-SHA-256$1:AA==$" + key + ":" + key,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseVerifier(text)
		if err != nil {
			return
		}
		if v.String() != text || v.Iterations < 1 || len(v.Salt) == 0 || len(v.StoredKey) != 32 || len(v.ServerKey) != 32 {
			t.Errorf("%q was read as %q", text, v)
		}
	})
}
