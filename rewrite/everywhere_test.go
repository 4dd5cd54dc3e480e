package rewrite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// hostile is a text that may stand nowhere in a statement. At is where in it the error
// stands, and found tells it in a tree.
type hostile struct {
	text  string
	at    int
	found func(protoreflect.Message) bool
}

func hidden(text, from string, found func(protoreflect.Message) bool) hostile {
	return hostile{text, strings.Index(text, from), found}
}

func readsRelation(name string) func(protoreflect.Message) bool {
	return func(m protoreflect.Message) bool {
		n, is := m.Interface().(*pg.RangeVar)
		return is && n.GetRelname() == name
	}
}

func callsFunction(name string) func(protoreflect.Message) bool {
	return func(m protoreflect.Message) bool {
		n, is := m.Interface().(*pg.FuncCall)
		return is && lastName(n.GetFuncname()) == name
	}
}

func namesType(name string) func(protoreflect.Message) bool {
	return func(m protoreflect.Message) bool {
		n, is := m.Interface().(*pg.TypeName)
		return is && lastName(n.GetNames()) == name
	}
}

// hostiles are by the kind of the node in whose place they are put.
var hostiles = map[string][]hostile{
	"expression": {
		hidden("(SELECT max(a) FROM secrets)", "secrets", readsRelation("secrets")),
		hidden("EXISTS (SELECT FROM hospital.patients)", "hospital", readsRelation("patients")),
		hidden("pg_read_file('x')", "pg_read_file", callsFunction("pg_read_file")),
		hidden("count(nowhere.f(1))", "nowhere", callsFunction("f")),
		hidden("CAST(NULL AS secrets)", "secrets", namesType("secrets")),
		hidden("(ARRAY[NULL]::nowhere.secrets[])[1]", "nowhere", namesType("secrets")),
		hidden("(1 OPERATOR(nowhere.+) 2)", "OPERATOR", func(m protoreflect.Message) bool {
			n, is := m.Interface().(*pg.A_Expr)
			return is && len(n.GetName()) == 2
		}),
		hidden(`('a' COLLATE nowhere."C")`, "COLLATE", func(m protoreflect.Message) bool {
			n, is := m.Interface().(*pg.CollateClause)
			return is && len(n.GetCollname()) == 2
		}),
	},
	"relation": {
		hidden("secrets", "secrets", readsRelation("secrets")),
		hidden("hospital.patients", "hospital", readsRelation("patients")),
		hidden("frozen", "frozen", readsRelation("frozen")),
		hidden("pg_authid", "pg_authid", readsRelation("pg_authid")),
		hidden("kproxy_release_public.patients", "kproxy_release_public", readsRelation("patients")),
		hidden("other.public.patients", "other", readsRelation("patients")),
	},
	"type": {
		hidden("secrets", "secrets", namesType("secrets")),
		hidden("kproxy_release_public.patients", "kproxy_release_public", namesType("patients")),
	},
	"function": {
		hidden("pg_read_file", "pg_read_file", callsFunction("pg_read_file")),
		hidden("setval", "setval", callsFunction("setval")),
		hidden("nowhere.lower", "nowhere", callsFunction("lower")),
	},
}

// slot is a place of a text in which something else can be put.
type slot struct {
	kind       string
	start, end int
	// in is where in the grammar the place is.
	in string
}

// slotsOf are the places of a text in which an expression of one token, or a name of what
// is there already, stands.
func slotsOf(sql string) []slot {
	tree, err := pg.Parse(sql)
	if err != nil {
		return nil
	}
	scan, err := pg.Scan(sql)
	if err != nil {
		return nil
	}
	ends := map[int]int{}
	for i, t := range scan.GetTokens() {
		end := t.GetEnd()
		for j := i + 1; j+1 < len(scan.GetTokens()) && scan.GetTokens()[j].GetToken() == pg.Token_ASCII_46; j += 2 {
			end = scan.GetTokens()[j+1].GetEnd()
		}
		ends[int(t.GetStart())] = int(end)
	}
	var found []slot
	var visit func(m protoreflect.Message, in string)
	visit = func(m protoreflect.Message, in string) {
		kind, location := "", int32(0)
		switch n := m.Interface().(type) {
		case *pg.ColumnRef:
			kind, location = "expression", n.GetLocation()
		case *pg.A_Const:
			kind, location = "expression", n.GetLocation()
		case *pg.ParamRef:
			kind, location = "expression", n.GetLocation()
		case *pg.RangeVar:
			kind, location = "relation", n.GetLocation()
		case *pg.TypeName:
			kind, location = "type", n.GetLocation()
		case *pg.FuncCall:
			kind, location = "function", n.GetLocation()
		}
		made := strings.HasSuffix(in, "IntoClause.rel") || strings.HasSuffix(in, "CreateStmt.relation")
		if end := ends[int(location)]; kind != "" && end > 0 && !made {
			found = append(found, slot{kind, int(location), end, in})
		}
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			field := fields.Get(i)
			if field.Message() == nil || !m.Has(field) {
				continue
			}
			below := in
			if m.Descriptor().Name() != "Node" {
				parts := strings.Split(in, " ")
				below = strings.Join(append(parts[max(0, len(parts)-1):], string(m.Descriptor().Name())+"."+string(field.Name())), " ")
			}
			if !field.IsList() {
				visit(m.Get(field).Message(), below)
				continue
			}
			for j := range m.Get(field).List().Len() {
				visit(m.Get(field).List().Get(j).Message(), below)
			}
		}
	}
	visit(tree.ProtoReflect(), "")
	return found
}

// holds says whether what was put into a text is in its tree, and not part of a name there.
func holds(sql string, found func(protoreflect.Message) bool) bool {
	tree, err := pg.Parse(sql)
	if err != nil {
		return false
	}
	var below func(m protoreflect.Message) error
	is := false
	below = func(m protoreflect.Message) error {
		is = is || found(m)
		return each(m, below)
	}
	_ = below(tree.ProtoReflect())
	return is
}

// TestNothingHiddenPassesAnywhere puts what is refused into every place of the grammar that
// the corpora have, next to what passes there: it is refused, and the error stands where it
// does.
func TestNothingHiddenPassesAnywhere(t *testing.T) {
	t.Parallel()
	temporary := New(Options{Database: "clinic", TemporaryTables: true})
	temporary.SetSnapshot(clinic())
	var paths []string
	for _, pattern := range []string{"testdata/*.sql", "testdata/legitimate/*.sql", "testdata/temporary/*.sql"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, some...)
	}
	tried, attempts, placed := map[string]bool{}, map[string]int{}, 0
	for _, path := range paths {
		for _, texts := range readConversations(t, path) {
			c := conversation{r: clinicRewriter()}
			if strings.Contains(path, "temporary") {
				c.r = temporary
			}
			for _, b := range texts {
				before := c.s
				if _, err := c.send(b.sql); err != nil || len(b.sql) > 1000 {
					continue
				}
				for _, place := range slotsOf(b.sql) {
					for _, h := range hostiles[place.kind] {
						sql, key := b.sql[:place.start]+h.text+b.sql[place.end:], place.in+h.text
						if attempts[key]++; tried[key] || attempts[key] > 2 || !holds(sql, h.found) || holds(b.sql, h.found) {
							continue
						}
						tried[key] = true
						if refusedAt(t, c.r, before, sql, place.start+h.at) {
							placed++
						}
					}
				}
			}
		}
	}
	t.Logf("%d places in the grammar, %d refusals with a position", len(tried), placed)
	if len(tried) < 1500 || placed < 1500 {
		t.Errorf("only %d places in the grammar, %d refusals with a position", len(tried), placed)
	}
}

// refusedAt wants a text to be refused, and says whether that is because of what stands at
// a place: some places take constants only.
func refusedAt(t *testing.T, r *Rewriter, s *Session, sql string, at int) bool {
	t.Helper()
	statement, err := r.Rewrite(sql, s)
	if err == nil {
		t.Errorf("%s\npasses: %s", sql, statement.SQL)
		return false
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.SQLState() == stateInternal {
		t.Errorf("%s\n%v", sql, err)
		return false
	}
	switch refusal.SQLState() {
	case statePrivilege, stateUndefinedRel, stateUndefinedFunction, stateUndefinedType, stateNotPublished:
	default:
		return false
	}
	if want := utf8.RuneCountInString(sql[:at]) + 1; refusal.Position() != want {
		t.Errorf("%s\nis refused at %d, want %d: %v", sql, refusal.Position(), want, err)
	}
	return true
}
