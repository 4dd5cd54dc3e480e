package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docker stands for Docker in secrets.sh: its kproxy is the one that is tested.
const docker = `#!/bin/sh
case "$*" in
"build -t kproxy ../..") ;;
"run --rm -i kproxy password") exec kproxy password ;;
*) echo "unexpected: docker $*" >&2; exit 1 ;;
esac
`

// TestCompose runs what the compose file runs, in its order, without containers: the
// secrets, the tables, the preparation, and an analyst's query.
func TestCompose(t *testing.T) {
	t.Parallel()
	s := newSite(t, "bare")
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(root, "packaging", "compose"))); err != nil {
		t.Fatal(err)
	}
	s.write(t, "docker", docker)
	s.must(t, "chmod +x docker && PATH=$PWD:$PATH sh ./secrets.sh")
	if again, err := s.run(t, "PATH=$PWD:$PATH sh ./secrets.sh", ""); err == nil || !strings.Contains(again, "is there already") {
		t.Errorf("a second run of secrets.sh replaced what was there: %s", again)
	}
	// The file's server is newer than 14, before which everybody might make objects there.
	s.must(t, "createdb shop && psql -X -q -v ON_ERROR_STOP=1 -d shop -c 'REVOKE CREATE ON SCHEMA public FROM PUBLIC' -f tables.sql")
	text, err := os.ReadFile(filepath.Join(s.dir, "secrets", "kproxy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "kproxy.yaml", strings.NewReplacer(
		`listen: ":6432"`, "listen: 127.0.0.1:6432", "/run/secrets/", "secrets/", "host: postgres", "host: 127.0.0.1\n    port: 5432",
	).Replace(string(text)))
	// As the administrator whose password is in the file that Compose mounts.
	s.must(t, `printf '*:*:*:%s:%s\n' "$PGUSER" "$PGPASSWORD" >pgpass && chmod 600 pgpass
		unset PGPASSWORD
		KPROXY_ADMIN_URL="postgresql://$PGUSER@127.0.0.1:5432/shop?passfile=pgpass" kproxy setup`)
	s.must(t, "kproxy check")
	s.must(t, "kproxy serve &")
	s.must(t, "kproxy health")
	const ask = `PGPASSWORD=$(cat secrets/analyst) psql -XAt postgresql://analyst@127.0.0.1:6432/shop -c "$QUERY"`
	for query, want := range map[string]string{
		"SELECT count(*) FROM customers":                              "2000",
		"SELECT count(*) FROM orders JOIN products ON code = product": "6000",
		"SELECT count(*) FROM information_schema.columns WHERE column_name IN ('name', 'email') AND table_name = 'customers'": "0",
	} {
		if got := strings.TrimSpace(s.must(t, "QUERY="+quoted(query)+"\n"+ask)); got != want {
			t.Errorf("%s: %s in place of %s", query, got, want)
		}
	}
	s.must(t, "kproxy verify")
}

// quoted is a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
