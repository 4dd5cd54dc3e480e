package config

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/hospital"
)

// defaults is a configuration without any key.
func defaults() Config {
	var f file
	fileSection().setDefaults(reflect.ValueOf(&f).Elem())
	f.TLS.Mode = TLSOff
	return f.Config
}

var patients = catalog.Name{Schema: "public", Relation: "patients"}

func TestExampleLoads(t *testing.T) {
	t.Setenv("KPROXY_OWNER_PASSWORD", "one")
	t.Setenv("KPROXY_READER_PASSWORD", "two")
	c, err := Load(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Upstream.Owner.Password.Reveal() != "one" || c.Upstream.Reader.Password.Reveal() != "two" {
		t.Error("passwords are not those of the environment")
	}
	if len(c.Policy.Tables) != 1 || c.Policy.Tables[0].Table != patients {
		t.Errorf("tables are %+v", c.Policy.Tables)
	}
}

// The example says of each key with a default what that is: it must be so.
func TestExampleShowsDefaults(t *testing.T) {
	t.Parallel()
	c, want := example(t), defaults()
	if !slices.Equal(c.Listen, want.Listen) || c.UnixSocketMode != want.UnixSocketMode || c.TLS != want.TLS || c.Publication != want.Publication || c.Slot != want.Slot {
		t.Errorf("got %q %+v %q %q", c.Listen, c.TLS, c.Publication, c.Slot)
	}
	if c.Replication != want.Replication {
		t.Errorf("replication is %+v, by default %+v", c.Replication, want.Replication)
	}
	if c.Throttle != want.Throttle || c.Pool != want.Pool {
		t.Errorf("throttle and pool are %+v, %+v, by default %+v, %+v", c.Throttle, c.Pool, want.Throttle, want.Pool)
	}
	if c.Limits != want.Limits {
		t.Errorf("limits are %+v, by default %+v", c.Limits, want.Limits)
	}
	if c.Timeouts != want.Timeouts {
		t.Errorf("timeouts are %+v, by default %+v", c.Timeouts, want.Timeouts)
	}
	if c.Log != want.Log {
		t.Errorf("log is %+v, by default %+v", c.Log, want.Log)
	}
}

func TestExampleHasTheHospitalsTaxonomies(t *testing.T) {
	t.Parallel()
	table := example(t).Policy.Tables[0]
	for _, taxonomy := range hospital.Taxonomies() {
		var want []hierarchy.Node
		for _, group := range taxonomy.Groups {
			node := hierarchy.Node{Label: group.Label}
			for _, value := range group.Values {
				node.Children = append(node.Children, hierarchy.Node{Label: value})
			}
			want = append(want, node)
		}
		column, _ := table.Column(taxonomy.Column)
		if column.Hierarchy == nil || !reflect.DeepEqual(column.Hierarchy.Taxonomy, want) {
			t.Errorf("%s: got %+v, want %s", taxonomy.Column, column, tree(want))
		}
	}
}

// What the example shows in comments can be written as it stands there.
func TestExampleShowsWhatIsUnderstood(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	constraints, columns := []string{"{k: 5}"}, []string{
		"birth_date: {role: quasi-identifying, hierarchy: date}", "sex: {role: quasi-identifying, hierarchy: suppression}", "diagnosis: sensitive", "cost: sensitive",
	}
	for _, shown := range regexp.MustCompile(`#.*(\{.*\})`).FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(shown[1], "{kind:") {
			columns = append(columns, fmt.Sprintf("c%d: {role: quasi-identifying, hierarchy: %s}", len(columns), shown[1]))
		} else {
			constraints = append(constraints, shown[1])
		}
	}
	policy := fmt.Sprintf("tables:\n  t:\n    constraints:\n      - %s\n    columns:\n      %s\n",
		strings.Join(constraints, "\n      - "), strings.Join(columns, "\n      "))
	if _, err := ParsePolicy("policy.yaml", []byte(policy)); err != nil || len(constraints) != 11 || len(columns) != 7 {
		t.Errorf("%v\n%s", err, policy)
	}
}

// The settings of guarded updates that the example shows are their defaults.
func TestExampleShowsGuardedUpdates(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{"updates:"}
	for _, setting := range regexp.MustCompile(`(?m)^    #   ((?:mode|crowd|batch|within|deadline): \w+)`).FindAllStringSubmatch(string(text), -1) {
		shown = append(shown, "  "+setting[1])
	}
	const table = "tables:\n  t:\n    constraints: [{k: 5}]\n    columns: {sex: {role: quasi-identifying, hierarchy: suppression}}\n    "
	in, err := ParsePolicy("policy.yaml", []byte(table+strings.Join(shown, "\n    ")))
	if err != nil || len(shown) != 6 {
		t.Fatalf("%v\n%s", err, strings.Join(shown, "\n"))
	}
	short, err := ParsePolicy("policy.yaml", []byte(table+"updates: guarded"))
	if err != nil {
		t.Fatal(err)
	}
	if in.Table.Updates != short.Table.Updates {
		t.Errorf("the example shows %+v, by default it is %+v", in.Table.Updates, short.Table.Updates)
	}
}

// What is set in comments can be set as it stands there, all of it at once.
func TestExampleShowsSettings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	set := strings.NewReplacer("\nlisten: 127.0.0.1:6432", "\nlisten: [127.0.0.1:6432, /run/kproxy]", "  mode: off\n", "", "    host: 127.0.0.1\n    port: 5432\n    database", "    host: db1\n    database").Replace(string(text))
	before, _, _ := strings.Cut(set, "\n# kproxy's publication")
	after := set[len(before):]
	const keys = "unix_socket_mode|proxy_protocol|from|cert_file|key_file|client_ca_file|reader|certificate_name|auth_query|query|user|password_env|" +
		"timeout|lifetime|iterations|access|method|transport|users|sslrootcert|sslcert|sslkey|sslnegotiation|channel_binding|require_auth|" +
		"hosts|prefer|max_staleness|readers|bi|source|host|database|sslmode|primary"
	commented := regexp.MustCompile(`(?m)^( *)# ( *(?:- )?(?:` + keys + `):.*)$`)
	c, err := Parse("example.yaml", []byte(commented.ReplaceAllString(before, "$1$2")+after))
	if err != nil {
		t.Fatalf("%v", err)
	}
	if len(c.Access) != 3 || c.Users[0].Reader != "bi" || c.Users[0].CertificateName == "" || c.AuthQuery.Query == "" || c.TLS.ClientCAFile == "" ||
		c.UnixSocketMode != 0o770 || len(c.ProxyProtocol.From) != 2 || len(c.Upstream.Reader.Hosts) != 4 || c.Upstream.Prefer != PreferStandby ||
		c.Upstream.MaxStaleness == 0 || len(c.Upstream.Readers) != 1 || c.Upstream.Owner.SSLCert == "" || c.Source.User != "kproxy_source" || !c.HasPrimary() {
		t.Errorf("not all is set: %+v", c)
	}
	if want := defaults().AuthQuery; c.AuthQuery.Timeout != want.Timeout || c.AuthQuery.Lifetime != want.Lifetime || c.AuthQuery.Iterations != want.Iterations {
		t.Errorf("auth_query is %+v, by default %+v", c.AuthQuery, want)
	}
}

func example(t *testing.T) *Config {
	t.Helper()
	c, err := parseFile(t, filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAdultPolicy(t *testing.T) {
	t.Parallel()
	p, err := LoadPolicy(filepath.Join("..", "..", "integration", "testdata", "adult.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	quasi := namesOf(p.Table.ByRole(catalog.QuasiIdentifying))
	want := []string{"age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"}
	if !slices.Equal(quasi, want) {
		t.Errorf("quasi-identifiers are %v", quasi)
	}
	if !reflect.DeepEqual(p.Table.Constraints, []privacy.Spec{{K: 5}}) {
		t.Errorf("constraints are %v", p.Table.Constraints)
	}
	if at := p.Locate(p.Table.Table, "age"); at.Line == 0 {
		t.Error("age is nowhere")
	}
	if p.CSV.Header || p.CSV.Delimiter != ',' || len(p.CSV.Columns) != 15 || p.CSV.Missing != "?" || !p.CSV.TrimSpaces || !p.CSV.DropIncomplete {
		t.Errorf("csv is %+v", p.CSV)
	}
}

// Every value of the census file is a leaf of its column's taxonomy.
func TestAdultTaxonomiesAreComplete(t *testing.T) {
	t.Parallel()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "adult", "adult.data"))
	if err != nil {
		t.Skip("the Adult census file is not here: ", err)
	}
	defer func() { _ = file.Close() }()
	p, err := LoadPolicy(filepath.Join("..", "..", "integration", "testdata", "adult.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	unknown := make(map[string]bool)
	complete := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), ", ")
		if len(fields) != len(p.CSV.Columns) || slices.Contains(fields, p.CSV.Missing) {
			continue
		}
		complete++
		for i, name := range p.CSV.Columns {
			column, _ := p.Table.Column(name)
			if column.Hierarchy != nil && len(column.Hierarchy.Taxonomy) > 0 && !slices.Contains(leaves(column.Hierarchy.Taxonomy), fields[i]) {
				unknown[name+": "+fields[i]] = true
			}
		}
	}
	if complete != 30_162 {
		t.Errorf("%d complete records", complete)
	}
	for value := range unknown {
		t.Errorf("not in the taxonomy: %s", value)
	}
}

func leaves(nodes []hierarchy.Node) []string {
	var labels []string
	for _, n := range nodes {
		if len(n.Children) == 0 {
			labels = append(labels, n.Label)
		}
		labels = append(labels, leaves(n.Children)...)
	}
	return labels
}
