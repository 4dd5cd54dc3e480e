package config

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// compile is the schema of a shape, ready to validate.
func compile(t *testing.T, shape *Shape) *jsonschema.Schema {
	t.Helper()
	text, err := Schema("a configuration", shape)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// document is a YAML text's root as a parser that knows nothing of kproxy gives it.
func document(t *testing.T, text []byte) (*yaml.Node, bool) {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil || len(n.Content) != 1 {
		return nil, false
	}
	return n.Content[0], true
}

// plainValue is a node as JSON has it: the keys of mappings are texts, dates are, too.
func jsonValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.AliasNode:
		return jsonValue(n.Alias)
	case yaml.MappingNode:
		m := make(map[string]any)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = jsonValue(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, jsonValue(item))
		}
		return list
	}
	var v any
	if n.ShortTag() == "!!timestamp" || n.Decode(&v) != nil {
		return n.Value
	}
	return v
}

// The example, and all that the tests take to be right, is right by the schema.
func TestSchemaTakesGoodConfigurations(t *testing.T) {
	t.Parallel()
	schema := compile(t, Describe())
	for _, path := range append(inputs(t, "good"), filepath.Join("..", "..", "config.example.yaml")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		root, ok := document(t, text)
		if !ok {
			t.Fatalf("%s is not read", path)
		}
		if err := schema.Validate(jsonValue(root)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "integration", "testdata", "adult.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	root, _ := document(t, text)
	if err := compile(t, DescribePolicy()).Validate(jsonValue(root)); err != nil {
		t.Error(err)
	}
}

// structural are the mistakes that a schema sees as well: what else the reader refuses,
// such as settings that contradict one another, a schema cannot say.
var structural = regexp.MustCompile(`^unknown key|must be (a mapping|a list|a single value|a whole number|a number|true or false)| has no (name|user|owner|reader|from|host|kind|role|mode|constraints|columns|query|upstream|tables)$|is not known$|is not a (duration|size)$|is neither off|is not (the name of a table|a name for a replication slot|the name of an environment variable|of the form SCRAM.*)$|has more than two parts$|(suppression|reanonymize|port|max_\w+|crowd|free|a step|[klct]|alpha|beta|delta) is out of range$`)

// unseen are those that come from how a value is written, which is gone when a parser
// has made a number or nothing of it.
var unseen = regexp.MustCompile(` is (null|empty)$|^a taxonomy must be .* not a single value$`)

// TestSchemaAndReaderAgree changes documents in every place and in every way, and asks
// both: what the schema refuses the reader refuses, and where the reader finds a mistake
// in the structure, the schema finds one.
func TestSchemaAndReaderAgree(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	Describe().Paths(func(_ string, k Key) { known[k.Name] = true })
	m := mutator{known: known, done: make(map[string]bool)}
	schema := compile(t, Describe())
	refused := 0
	for _, path := range append(inputs(t, "good"), inputs(t, "bad")...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		root, ok := document(t, text)
		if !ok || strings.Contains(path, "bomb") || strings.Contains(path, "cycle") || strings.Contains(string(text), "<<") || strings.Contains(string(text), "!!") {
			continue
		}
		m.try = func() {
			changed, err := yaml.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			taken, agreed := agree(t, schema, changed)
			if !agreed {
				t.Fatalf("%s, changed, was:\n%s", path, changed)
			}
			if !taken {
				refused++
			}
		}
		m.mutate("", root)
	}
	if tried := len(m.done); tried < 1000 || refused > tried-100 {
		t.Errorf("%d documents were tried, and %d refused", tried, refused)
	}
}

// agree reports whether the reader takes a document, and whether the schema agrees with it.
func agree(t *testing.T, schema *jsonschema.Schema, text []byte) (taken, agreed bool) {
	t.Helper()
	_, err := Parse("c.yaml", text)
	root, ok := document(t, text)
	if !ok {
		return err == nil, true
	}
	wrong := schema.Validate(jsonValue(root))
	if wrong != nil && err == nil {
		t.Errorf("the schema refuses what the reader takes: %v", wrong)
		return true, false
	}
	if problems, _ := err.(Errors); wrong == nil { //nolint:errorlint // Parse says that it is one
		for _, p := range problems {
			if structural.MatchString(p.What) && !unseen.MatchString(p.What) {
				t.Errorf("the schema takes what the reader refuses: %v", p)
				return false, false
			}
		}
	}
	return err == nil, true
}

// mutator tries each place of documents changed in each way, one at a time. Places that
// differ in names that operators choose are one.
type mutator struct {
	known map[string]bool
	done  map[string]bool
	try   func()
}

func (m *mutator) once(place string) {
	if !m.done[place] {
		m.done[place] = true
		m.try()
	}
}

func (m *mutator) mutate(place string, n *yaml.Node) {
	before := *n
	for text, other := range replacements() {
		*n = *other
		m.once(place + " is " + text)
	}
	*n = before
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(before.Content); i += 2 {
			name := before.Content[i].Value
			below := place + ".*"
			if m.known[name] {
				below = place + "." + name
			}
			n.Content = append(append([]*yaml.Node{}, before.Content[:i]...), before.Content[i+2:]...)
			m.once(below + " is gone")
			n.Content = before.Content
			n.Content[i].Value = name + "x"
			m.once(below + " is another")
			n.Content[i].Value = name
			m.mutate(below, n.Content[i+1])
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			m.mutate(place+"[]", item)
		}
	}
}

func replacements() map[string]*yaml.Node {
	all := make(map[string]*yaml.Node)
	for _, text := range []string{"word", "7", "0", "2.5", "true", "null", "3m", "9GB", "7%", "[]", "{}", "[word]", "{word: word}"} {
		var n yaml.Node
		if yaml.Unmarshal([]byte(text), &n) == nil {
			all[text] = n.Content[0]
		}
	}
	return all
}

// Every key is described, so that editors and the reference can say what it is for.
func TestEveryKeyIsDescribed(t *testing.T) {
	t.Parallel()
	for _, shape := range []*Shape{Describe(), DescribePolicy()} {
		shape.Paths(func(path string, k Key) {
			if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") {
				t.Errorf("%s has no description in sentences: give its field a doc", path)
			}
			if k.Shape.Kind == shapeUnknown {
				t.Errorf("%s: the reader looks at it without saying what it asks for", path)
			}
		})
	}
}

// What is described as the default is what holds where nothing is written.
func TestDescribedDefaults(t *testing.T) {
	t.Parallel()
	found := make(map[string]string)
	Describe().Paths(func(path string, k Key) { found[path] = k.Shape.Default })
	for path, want := range map[string]string{
		"listen": "127.0.0.1:6432", "unix_socket_mode": "0777", "upstream.owner.port": "5432", "upstream.reader.prefer": "primary",
		"slot": "kproxy", "replication.alarm.retained": "10GB", "replication.alarm.behind": "5m", "tables.*.updates.within": "1d",
		"timeouts.statement": "0s", "log.level": "info", "throttle.delay": "250ms", "tables.*.constraints[].k": "", "upstream.owner.host": "",
	} {
		if got, known := found[path]; !known || got != want {
			t.Errorf("%s is described with default %q, not %q", path, got, want)
		}
	}
}
