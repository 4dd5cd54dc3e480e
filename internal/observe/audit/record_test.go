package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/visible"
)

func FuzzRecord(f *testing.F) {
	f.Add("ann", "SELECT ?", "public.patients", true)
	f.Add("a\"\n\x00\x7f\xff\u2028\u0085é𝄞", "\\", "", false)
	f.Add("a\u202eb\u2066\u200e", "\u2069", "public.p\u202a", false)
	f.Fuzz(func(t *testing.T, user, shape, table string, refused bool) {
		r := Record{
			Event: Statement, User: user, Shape: shape, Tables: []string{table, table}, Refused: refused, Rows: 7, Bytes: 9,
			Session: 3, Duration: 1234567, Client: netip.MustParseAddr("::ffff:10.0.0.1"), SQLState: "42501", Time: time.Unix(1e9, 5000),
		}
		line := r.append(nil)
		if bytes.Count(line, []byte{'\n'}) != 1 || !json.Valid(line) {
			t.Fatalf("%q is no line of JSON", line)
		}
		if strings.ContainsFunc(string(line), visible.Turns) {
			t.Fatalf("%q turns", line)
		}
		var read struct {
			Time, User, Shape, Client string
			Tables                    []string
			DurationMS                float64 `json:"duration_ms"`
			Refused                   bool
		}
		if err := json.Unmarshal(line, &read); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint("2001-09-09T01:46:40.000005Z 10.0.0.1 1.234 ", refused, " ", strings.ToValidUTF8(user, "\ufffd"), []string{table, table})
		valid := strings.ToValidUTF8(user+shape+table, "") == user+shape+table
		if got := fmt.Sprint(read.Time, " ", read.Client, " ", read.DurationMS, " ", read.Refused, " ", read.User, read.Tables); valid && got != want || valid && read.Shape != shape {
			t.Errorf("%s, not %s", got, want)
		}
	})
}
