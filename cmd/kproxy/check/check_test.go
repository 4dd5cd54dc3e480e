package check

import (
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

// Who lets other machines in without TLS is told so, with the line that does.
func TestPlainListenersAreWarnedOf(t *testing.T) {
	t.Parallel()
	for listen, warns := range map[string]bool{"127.0.0.1:6432": false, "/run/kproxy": false, ":6432": true, `[127.0.0.1:6432, 0.0.0.0:6433]`: true} {
		c, err := config.Parse("k.yaml", []byte("database: d\nlisten: "+listen+"\n"+examinedConfig))
		if err != nil {
			t.Fatal(err)
		}
		found := Summarize(c, checkListen(c), nil)
		switch {
		case !found.OK:
			t.Errorf("%s: an error: %s", listen, found)
		case !warns && len(found.Findings) > 0:
			t.Errorf("%s: %s", listen, found)
		case warns && (len(found.Findings) != 1 || found.Findings[0].Line != 2 || found.Findings[0].Code != codeListenPlain):
			t.Errorf("%s: %+v", listen, found.Findings)
		}
	}
}

const examinedConfig = `upstream:
  owner: {host: h, database: d, user: o}
  reader: {user: r}
auth_query: {query: SELECT f($1)}
tables:
  public.t:
    updates: immediate
    constraints: [{k: 5}]
    columns: {age: {role: quasi-identifying, hierarchy: numeric}}
readable: [public.u, other.v]
temporary_tables: allow
limits:
  max_tokens: 1000
  max_depth: 20
`
