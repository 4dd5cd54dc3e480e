package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestSameSeesEveryChange alters every value of the golden trees, one at a time:
// the comparison that guards the deparser must see each of them but positions.
func TestSameSeesEveryChange(t *testing.T) {
	t.Parallel()
	changes := 0
	for _, path := range goldenFiles(t) {
		for _, b := range readBlocks(t, path) {
			tree, err := pg.Parse(b.sql)
			if err != nil || len(b.sql) > 500 {
				continue
			}
			other := proto.Clone(tree).(*pg.ParseResult)
			wire := encoded(t, tree)
			equal := func() bool { return same(treePlan(), wire, encoded(t, other)) }
			if !equal() {
				t.Fatalf("%s\ndiffers from its copy", b.sql)
			}
			alter(other.ProtoReflect(), func(field protoreflect.FieldDescriptor) {
				changes++
				if equal() != positions[field.Name()] {
					t.Errorf("%s\na change of %s: equal is %v", b.sql, field.FullName(), equal())
				}
			})
		}
	}
	if changes < 5000 {
		t.Errorf("only %d changes were tried", changes)
	}
}

func alter(m protoreflect.Message, check func(protoreflect.FieldDescriptor)) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList():
			list := value.List()
			for i := range list.Len() {
				if field.Message() != nil {
					alter(list.Get(i).Message(), check)
				}
			}
			last := list.Get(list.Len() - 1)
			list.Truncate(list.Len() - 1)
			check(field)
			list.Append(last)
		case field.Message() != nil:
			alter(value.Message(), check)
			m.Clear(field)
			check(field)
			m.Set(field, value)
		default:
			m.Set(field, changed(field.Kind(), value))
			check(field)
			m.Set(field, value)
		}
		return true
	})
}

func changed(kind protoreflect.Kind, value protoreflect.Value) protoreflect.Value {
	switch kind {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(value.String() + "x")
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!value.Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(value.Enum() + 1)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(value.Uint()) + 1)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(value.Int() + 1)
	}
	return protoreflect.ValueOfInt32(int32(value.Int()) + 1)
}

// TestUnfaithfulTextIsRefused plants deparser defects: a text that parses but
// means something else must not pass.
func TestUnfaithfulTextIsRefused(t *testing.T) {
	t.Parallel()
	checked, err := pg.Parse("SELECT age FROM wards")
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"SELECT age FROM patients", "SELECT age FROM wards w", "SELECT age FROM public.wards",
		"SELECT age FROM wards LIMIT 1", "SELECT age, age FROM wards", "SELECT age FROM wards; SELECT 1",
	} {
		other, err := pg.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := faithful(encoded(t, other), encoded(t, checked)); ok {
			t.Errorf("%s passed as the checked statement", sql)
		}
	}
	if _, ok := faithful(encoded(t, checked), encoded(t, checked)); !ok {
		t.Error("the statement itself did not pass")
	}
}

func encoded(t testing.TB, tree *pg.ParseResult) []byte {
	t.Helper()
	wire, err := proto.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// TestOperandsAreWritten puts each kind of expression in each place of an operand, where the
// deparser may forget its parentheses.
func TestOperandsAreWritten(t *testing.T) {
	t.Parallel()
	operands := strings.Split(`NOT a|a AND b|a OR b|a IS NULL|a IS TRUE|a = b|a IS DISTINCT FROM b|a BETWEEN 1 AND 2|a NOT IN (1, 2)|a LIKE b ESCAPE 'x'|`+
		`a SIMILAR TO b|a = ANY (b)|-a|a + b|a::int|a COLLATE "C"|a AT TIME ZONE 'x'|ARRAY[1]|a[1]|(a).b|ROW(1, 2)|f(a)|substring(a FROM 1)|`+
		`CASE WHEN a THEN b END|COALESCE(a, b)|(SELECT 1)|EXISTS (SELECT 1)|a IN (SELECT 1)|a IS JSON|5|-5|'x'|NULL|true|a|CURRENT_DATE|$1`, "|")
	places := strings.Split(`%s IS NULL|%s IS NOT TRUE|(%s)::int|%s COLLATE "C"|(%s)[1]|(%s).x|%s IN (SELECT 1)|%s = ANY (SELECT 1)|%s IS JSON OBJECT|%s + 1|1 + %s|`+
		`%s = b|b < %s|a IN (%s, 1)|%s IN (1, 2)|a BETWEEN %s AND 1|a BETWEEN 1 AND %s|%s BETWEEN 1 AND 2|NOT %s|%s AND b|b OR %s|f(%s)|-%s|`+
		`%s LIKE 'x'|'x' LIKE %s|%s AT TIME ZONE 'x'|CASE %s WHEN 1 THEN 2 END|a[%s]`, "|")
	isTruth := map[string]bool{"NOT a": true, "a AND b": true, "a OR b": true}
	written := func(sql string) {
		tree, err := pg.Parse(sql)
		if err != nil {
			return // two operators that do not associate
		}
		checked := encoded(t, tree)
		parenthesize(tree.ProtoReflect())
		if text, ok := faithful(encoded(t, tree), checked); !ok {
			t.Errorf("%s is written as %s", sql, text)
		}
	}
	for _, place := range places {
		for _, operand := range operands {
			if strings.HasPrefix(place, "%s AT") && isTruth[operand] {
				continue // no server takes it
			}
			written("SELECT " + fmt.Sprintf(place, "("+operand+")"))
		}
	}
	for _, operand := range slices.DeleteFunc(operands, func(operand string) bool { return operand == "-5" }) {
		written("SELECT * FROM xmltable('/a' PASSING (" + operand + ") COLUMNS x text)")
	}
	written(`FETCH 1 FROM "a""b c"`)
}
