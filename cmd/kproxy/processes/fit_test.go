package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/state"
)

// settingKeysSize bounds the keys that an answer can name, as package settings tests.
const settingKeysSize = 900

// TestAnswersFitNotifications has processes answer with as much as there can be to tell, in
// characters that take most as JSON.
func TestAnswersFitNotifications(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "LISTEN "+reloading.answers); err != nil {
		t.Fatal(err)
	}
	keys := []string{strings.Repeat("k", settingKeysSize)}
	for _, character := range []string{"a", "<", `"`, "\x01", "é", "𝄞", "\xff"} {
		var tables []string
		for i := range 300 {
			tables = append(tables, fmt.Sprintf("%s.%d", strings.Repeat(character, 60), i))
		}
		long := strings.Repeat(character, 20_000)
		for what, outcome := range map[string]Outcome{
			"tables":  {Changes: settings.Changes{Added: tables, Changed: tables, Removed: tables, Settings: keys}},
			"refusal": {Changes: settings.Changes{Added: tables, Restart: keys}, Refused: long},
		} {
			a := Answer{Reply: Reply{ID: strings.Repeat("X", 26), PID: 1 << 31, Process: strings.Repeat("m", 64) + ", process 4194304"}, Outcome: outcome}
			if err := send(t.Context(), conn, reloading, a.fitting()); err != nil {
				t.Fatalf("%s of %q: %v", what, character, err)
			}
			if n, err := conn.WaitForNotification(t.Context()); err != nil || len(n.Payload) < maxAnswerBytes/2 {
				t.Errorf("%s of %q: told is %v, %v", what, character, n, err)
			}
		}
		unserved := Clients{Reply: Reply{Process: "m"}, Unserved: tables}.fitting()
		if err := send(t.Context(), conn, counting, unserved); err != nil || len(unserved.Unserved) == 0 || !slices.Equal(unserved.Unserved, tables[:len(unserved.Unserved)]) {
			t.Errorf("%d tables of %q: %v", len(unserved.Unserved), character, err)
		}
	}
}

// TestAnswersTellOfTheMachine has a certificate and a problem whose texts are long, or have characters that the
// encoding of the database has not.
func TestAnswersTellOfTheMachine(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t), "TEMPLATE template0 ENCODING 'EUC_JP' LOCALE 'C'"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "LISTEN "+counting.answers); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Łódź", "𝄞", strings.Repeat("Ł", 20_000), strings.Repeat("<", 20_000)} {
		c := Clients{
			Reply:   Reply{ID: strings.Repeat("X", 26), Process: strings.Repeat("m", 64)},
			Expires: &state.Certificate{Use: "server", Subject: "CN=" + text, File: text},
			Work:    map[string]*state.Work{"public.a": {Stage: "waiting", Problem: text, Fix: text}},
		}
		if err := send(t.Context(), conn, counting, c.fitting()); err != nil {
			t.Errorf("%.10q: %v", text, err)
			continue
		}
		n, err := conn.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got Clients
		if err := json.Unmarshal([]byte(n.Payload), &got); err != nil || got.Expires == nil || !strings.HasPrefix(got.Expires.Subject, "CN="+text[:1]) {
			t.Errorf("%.10q: %+v, %v", text, got, err)
		}
		short := len(text) < 100
		if short && (got.Expires.Subject != "CN="+text || got.Expires.File != text || got.Work["public.a"].Fix != text) {
			t.Errorf("%q has become %+v, %+v", text, got.Expires, got.Work["public.a"])
		}
	}
	long := Clients{Work: map[string]*state.Work{"public.a": {Stage: "waiting", Problem: strings.Repeat("who ", 5000), Fix: "end it"}, "public.b": {Stage: "reading"}}}.fitting()
	if w := long.Work["public.a"]; w == nil || !strings.HasPrefix(w.Problem, "who who ") || long.Work["public.b"] == nil {
		t.Errorf("a long problem becomes %+v", long.Work)
	}
}

func TestShortAnswersAreWhole(t *testing.T) {
	t.Parallel()
	a := Answer{Outcome: Outcome{Changes: settings.Changes{Added: []string{"public.a"}, Settings: []string{"tls"}}, Refused: "k must be 2 < k\nand whole"}}
	if got := a.fitting(); fmt.Sprint(got) != fmt.Sprint(a) {
		t.Errorf("got %v", got)
	}
	left := room(20)
	if got := left.counted([]string{"public.a", "public.b", "public.c"}); strings.Join(got, " ") != "public.a and 2 more" {
		t.Errorf("got %q", got)
	}
	left = 10
	if got := left.beginning("éééééééé"); !strings.HasPrefix(got, "é") || !strings.HasSuffix(got, "é ... (the log has all of it)") {
		t.Errorf("got %q", got)
	}
}
