package chaos

import (
	"math/rand/v2"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// database makes a database with what the statements need, and returns its URL for the
// superuser.
func database(t testing.TB) string {
	t.Helper()
	direct := pgtest.Database(t, pgtest.Shared(t))
	conn, err := pgx.Connect(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	script := "ALTER DATABASE " + conn.Config().Database + " SET search_path TO s1;"
	for i := 1; i <= Schemas; i++ {
		n := strconv.Itoa(i)
		script += "CREATE SCHEMA s" + n + "; CREATE TABLE s" + n + ".place AS SELECT " + n + " AS n;"
	}
	if _, err := conn.Exec(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	return direct
}

// loginOf is the login that a URL means, by TCP.
func loginOf(t testing.TB, direct string) Login {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	return Login{Network: "tcp", Address: u.Host, User: u.User.Username(), Password: password, Database: u.Path[1:]}
}

// TestModel plays random scripts on a server, without a proxy.
func TestModel(t *testing.T) {
	t.Parallel()
	login := loginOf(t, database(t))
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		client, err := login.Dial()
		if err != nil {
			t.Fatal(err)
		}
		model, id := &Model{}, 0
		g := &generator{rng: rng, model: model, id: &id}
		if leftOut := g.suit(client.Parameters); seed == 0 && leftOut != "" {
			t.Log(leftOut)
		}
		var last [3][]sent // for the report
		for range 200 {
			var batch []sent
			g.segment(func(m message) {
				// The server sees no mark.
				m.body = unmarked(m.body)
				batch = append(batch, sent{message: m, want: model.Step(m.kind, m.body)})
			})
			last = [3][]sent{last[1], last[2], batch}
			_ = client.SetDeadline(time.Now().Add(patience))
			if _, err := client.Write(encode(batch)); err != nil {
				t.Fatal(err)
			}
			for _, m := range batch {
				left, kind, body, err := client.expect(m.want)
				if err != nil || kind != 0 {
					t.Fatalf("seed %d, at %s of %v: %v, %v", seed, m, last, err, mismatch(left, kind, body))
				}
			}
		}
		_ = client.Close()
	}
}
