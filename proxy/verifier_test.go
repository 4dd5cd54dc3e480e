package proxy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/proxy/access"
)

// passwords are of all kinds that clients and servers may normalize in different ways.
var passwords = []string{
	"simple", " spaces ", "with 'quotes\" and \\", "control \x07 in ASCII", "tab\tnewline\n",
	"pässwörd", "pa\u0308sswo\u0308rd", "ª and \u00ad soft", "\u2168 roman", "ﬁ ligature",
	"no-break\u00a0space", "em\u2003space", "zero\u200bwidth", "\u1806hyphen", "control \u0085", "private \ue000", "not a character \ufdd0",
	"replacement \ufffd", "tag \U000e0001", "\u0221 unassigned", "\u1d2cfter Unicode 3.2", "emoji 🔑", "日本語",
	"\u0627\u0628", "\u0627a\u0628", "\u06271", "mixed \u0627a", "alef \u2135", "\u00ad", "\u00ad\u200c",
	strings.Repeat("long", 100), strings.Repeat("ö", 300),
}

// TestVerifierIsPostgreSQLs derives what PostgreSQL derives.
func TestVerifierIsPostgreSQLs(t *testing.T) {
	t.Parallel()
	direct := connectPgx(t, pgtest.Database(t, pgtest.Shared(t)))
	for _, password := range passwords {
		role := "scram_" + marker()
		theirs := roleWith(t, direct, role, password)
		ours, err := scram.Derive(password, theirs.Salt, theirs.Iterations)
		if err != nil || ours.String() != theirs.String() {
			t.Errorf("%q: %v, not PostgreSQL's verifier", password, err)
		}
	}
}

// roleWith makes a role with a password and returns its verifier.
func roleWith(t *testing.T, direct *pgx.Conn, role, password string) scram.Verifier {
	t.Helper()
	quoted := strings.ReplaceAll(password, "'", "''")
	if _, err := direct.Exec(deadline(t), fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", role, quoted)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := direct.Exec(deadline(t), "DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	})
	var text string
	if err := direct.QueryRow(deadline(t), "SELECT rolpassword FROM pg_authid WHERE rolname = $1", role).Scan(&text); err != nil {
		t.Fatal(err)
	}
	verifier, err := scram.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// TestPreparationIsPostgreSQLs sweeps over Unicode, where the server can be asked for
// verifiers that are cheap to make.
func TestPreparationIsPostgreSQLs(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	if server.Version().Major < 16 {
		t.Skipf("PostgreSQL %s has no scram_iterations", server.Version())
	}
	direct := connectPgx(t, pgtest.Database(t, server))
	if _, err := direct.Exec(deadline(t), `
		CREATE ROLE scram_sweep;
		SET scram_iterations = 1;
		CREATE TEMPORARY TABLE swept (password text, verifier text);
		DO $do$ DECLARE p text; BEGIN
			FOR p IN SELECT 'a' || chr(c) || 'b' FROM generate_series(128, 1114111) c
				WHERE c NOT BETWEEN 55296 AND 57343 AND (c < 65536 AND c % 37 = 0 OR c % 2003 = 0 OR c IN (832, 1017, 6150, 7468, 8203, 8501, 64047))
			LOOP
				EXECUTE format('ALTER ROLE scram_sweep PASSWORD %L', p);
				INSERT INTO swept SELECT p, rolpassword FROM pg_authid WHERE rolname = 'scram_sweep';
			END LOOP;
		END $do$;
		DROP ROLE scram_sweep`); err != nil {
		t.Fatal(err)
	}
	rows, err := direct.Query(deadline(t), "SELECT password, verifier FROM swept")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var password, text string
		if err := rows.Scan(&password, &text); err != nil {
			t.Fatal(err)
		}
		theirs, err := scram.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		client, err := xscram.SHA256.NewClientUnprepped("", scram.Prepare(password), "")
		if err != nil {
			t.Fatal(err)
		}
		keys, err := client.GetStoredCredentialsWithError(xscram.KeyFactors{Salt: string(theirs.Salt), Iters: theirs.Iterations})
		if err != nil || string(keys.StoredKey) != string(theirs.StoredKey) {
			t.Errorf("%+q is prepared otherwise", password)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestClientsPreparePasswords logs in with psql and pgx to the proxy, with verifiers of
// its own making, and to PostgreSQL, with the server's, and expects the same.
func TestClientsPreparePasswords(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) {
		c.Access.Throttle.Off = true
		for i, password := range passwords {
			verifier, err := scram.Derive(password, []byte("0123456789abcdef"), 4096)
			if err != nil {
				t.Fatal(err)
			}
			c.Access.Users = append(c.Access.Users, access.User{Name: fmt.Sprint("user", i), Verifier: verifier.String()})
		}
	})
	direct := connectPgx(t, p.direct)
	there, err := pgconn.ParseConfig(p.direct)
	if err != nil {
		t.Fatal(err)
	}
	here, err := pgconn.ParseConfig(p.url("sslmode=disable"))
	if err != nil {
		t.Fatal(err)
	}
	for i, password := range passwords {
		role := "scram_" + marker()
		roleWith(t, direct, role, password)
		for client, login := range map[string]func(*pgconn.Config, string, string) error{"psql": loginByPsql, "pgx": loginByPgx} {
			proxied, straight := login(here, fmt.Sprint("user", i), password), login(there, role, password)
			if (proxied == nil) != (straight == nil) {
				t.Errorf("%s, %+q: %v, straight %v", client, password, proxied, straight)
			}
			if client == "psql" && proxied != nil {
				t.Errorf("psql, %+q: %v", password, proxied)
			}
		}
	}
}

func loginByPgx(at *pgconn.Config, user, password string) error {
	at = at.Copy()
	at.User, at.Password = user, password
	conn, err := pgconn.ConnectConfig(context.Background(), at)
	if err != nil {
		return err
	}
	return conn.Close(context.Background())
}

func loginByPsql(at *pgconn.Config, user, password string) error {
	command := exec.Command("psql", "-XAt", "-h", at.Host, "-p", fmt.Sprint(at.Port), "-U", user, "-d", at.Database, "-c", "SELECT 1")
	command.Env = append(os.Environ(), "PGPASSWORD="+password, "PGSSLMODE=disable", "PGCLIENTENCODING=UTF8", "PGCONNECT_TIMEOUT=30")
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
