package docs

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

// lacking completes a piece of a configuration by what it leaves out.
var lacking = map[string]string{
	"users":    "users: [{name: analyst, verifier: 'SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA='}]",
	"upstream": "upstream: {owner: {host: db, database: hospital, user: kproxy_owner}, reader: {user: kproxy_reader}}",
	"tables":   "tables: {patients: {updates: immediate, constraints: [{k: 5}], columns: {age: {role: quasi-identifying, hierarchy: numeric}}}}",
}

// inTable are keys of a protected table, which a piece may begin with.
var inTable = regexp.MustCompile(`\A(?:\s*#.*\n)*(method|constraints|subject|suppression|updates|reanonymize|unpublishable):`)

// whole makes a configuration of a piece of one.
func whole(piece string) string {
	if found := inTable.FindStringSubmatch(piece); found != nil {
		rest := "    columns: {age: {role: quasi-identifying, hierarchy: numeric}, diagnosis: sensitive, patient_id: identifying}\n"
		if !strings.Contains(piece, "updates:") {
			rest += "    updates: immediate\n"
		}
		if !strings.Contains(piece, "constraints:") {
			rest += "    constraints: [{k: 5}]\n"
		}
		piece = "tables:\n  patients:\n    " + strings.ReplaceAll(strings.TrimRight(piece, "\n"), "\n", "\n    ") + "\n" + rest
	}
	if strings.HasPrefix(piece, "mirrored:") { // where there are two databases
		piece += "source: {host: production, database: hospital, user: kproxy_source}\n"
	}
	for key, without := range lacking {
		if !strings.HasPrefix(piece, key+":") && !strings.Contains(piece, "\n"+key+":") {
			piece += without + "\n"
		}
	}
	return piece
}

// TestConfigurations parses each piece of configuration, and each JSON.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			switch {
			case b.reason != "":
			case b.lang == "json" && !json.Valid([]byte(b.text)):
				t.Errorf("%s:%d: no JSON", p.path, b.line)
			case b.lang == "yaml":
				_, err := config.Parse("piece.yaml", []byte(whole(b.text)))
				if _, other := config.ParsePolicy("piece.yaml", []byte(b.text)); err != nil && other != nil {
					t.Errorf("%s:%d: %v", p.path, b.line, err)
				}
			}
		}
	}
}
