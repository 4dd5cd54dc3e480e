package metadata

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// firstUserOID is the first number of an object that initdb did not make.
const firstUserOID = 16384

// bySuperuser reads from the server itself.
func bySuperuser[T any](t *testing.T, sql string) []T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), site.server.DSN(source))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// systemRelations are those that clients can read, of all that the server has.
func systemRelations(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	var readable []string
	all := bySuperuser[string](t, `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') ORDER BY 1`)
	for _, name := range all {
		if _, err := conn.Exec(t.Context(), "SELECT FROM "+name+" LIMIT 0"); err == nil {
			readable = append(readable, name)
		}
	}
	if len(readable) < 150 || len(readable) == len(all) {
		t.Fatalf("%d of %d system relations can be read", len(readable), len(all))
	}
	return readable
}

// hiddenObject is one that a catalog lists and clients must not know of.
type hiddenObject struct{ oid, name string }

// spelled finds what is hidden as it is spelled: there are the Canary Islands.
var spelled = regexp.MustCompile(`canary|kproxy_(store|catalog|release)|\b(release|records)_[0-9]+\b`)

// hiddenNumber finds numbers that may be those of objects.
var hiddenNumber = regexp.MustCompile(`\b[1-9][0-9]{4,9}\b`)

// objects are all that initdb did not make, by the catalogs that list such: those that the
// client is shown, and the others.
func objects(t *testing.T, conn *pgx.Conn) (shown map[string]bool, hidden []hiddenObject) {
	t.Helper()
	shown = make(map[string]bool)
	listed := bySuperuser[string](t, `SELECT a.attrelid::regclass || ' ' || coalesce((SELECT n.attname FROM pg_attribute n
			WHERE n.attrelid = a.attrelid AND n.attname ~ '^[a-z]+name$' AND n.atttypid = 'name'::regtype ORDER BY n.attnum LIMIT 1), '''''')
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE a.attname = 'oid' AND c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND NOT c.relisshared ORDER BY 1`)
	for _, of := range listed {
		catalog, name, _ := strings.Cut(of, " ")
		seen := make(map[string]bool)
		if result := conn.PgConn().ExecParams(t.Context(), fmt.Sprintf("SELECT oid FROM %s WHERE oid >= %d", catalog, firstUserOID), nil, nil, nil, nil).Read(); result.Err == nil {
			for _, row := range result.Rows {
				seen[string(row[0])], shown[string(row[0])] = true, true
			}
		}
		for _, line := range bySuperuser[string](t, fmt.Sprintf("SELECT oid || ' ' || %s FROM %s WHERE oid >= %d", name, catalog, firstUserOID)) {
			oid, name, _ := strings.Cut(line, " ")
			if !seen[oid] {
				hidden = append(hidden, hiddenObject{oid, name})
			}
		}
	}
	return shown, hidden
}

// TestCatalogsListNothingHidden reads every column of every system relation: where it has
// the number of an object, some catalog shows the client that object, and it has no name of
// one that none shows.
func TestCatalogsListNothingHidden(t *testing.T) {
	t.Parallel()
	start(t)
	conn := connect(t)
	shown, hiddenOnes := objects(t, conn)
	numbers, names := make(map[string]string), make(map[string]bool)
	for _, o := range hiddenOnes {
		numbers[o.oid] = o.name
		// Others have such names as well: columns, keys and the like, or PostgreSQL's own.
		if strings.Contains(o.name, "canary") || strings.HasPrefix(o.name, "gtrgm") || strings.HasPrefix(o.name, "gbt_") || strings.HasPrefix(o.name, "hstore") || o.name == "#%%#" {
			names[o.name] = true
		}
	}
	if len(hiddenOnes) < 1000 || len(names) < 200 || len(shown) < 20 {
		t.Fatalf("%d objects are hidden, %d of them by names that tell; %d are shown", len(hiddenOnes), len(names), len(shown))
	}
	relations, values := systemRelations(t, conn), 0
	for _, relation := range relations {
		if strings.HasPrefix(relation, "pg_catalog.pg_available_extension") { // files on the server's disk
			continue
		}
		result := conn.PgConn().ExecParams(t.Context(), "SELECT * FROM "+relation, nil, nil, nil, nil).Read()
		if result.Err != nil {
			t.Errorf("%s: %v", relation, result.Err)
			continue
		}
		for _, row := range result.Rows {
			for i, value := range row {
				values++
				where := relation + "." + result.FieldDescriptions[i].Name
				tells(t, where, string(value), result.FieldDescriptions[i].DataTypeOID, numbers, shown, names)
			}
		}
	}
	t.Logf("%d values of %d relations; %d objects are hidden and %d shown", values, len(relations), len(hiddenOnes), len(shown))
}

// ofNumbers are the types whose values may be numbers of objects, or hold some.
var ofNumbers = []uint32{26, 1028, 30, 1013, 194, 1033, 1034, 24, 25, 19, 1003, 1009}

// tells fails where a value has the number or the name of a hidden object.
func tells(t *testing.T, where, value string, typ uint32, numbers map[string]string, shown, names map[string]bool) {
	t.Helper()
	if found := spelled.FindString(value); found != "" {
		t.Errorf("%s shows %s: %s", where, found, value)
	}
	if names[strings.Trim(value, `"`)] {
		t.Errorf("%s shows %s", where, value)
	}
	if !slices.Contains(ofNumbers, typ) && typ < firstUserOID {
		return
	}
	for _, digits := range hiddenNumber.FindAllString(value, -1) {
		if n, err := strconv.Atoi(digits); err != nil || n < firstUserOID || shown[digits] {
			continue
		}
		if name, known := numbers[digits]; known {
			t.Errorf("%s shows %s, the number of %q: %s", where, digits, name, value)
		}
	}
}

// namings are the ways to have the server print the name of an object by its number, %[1]s,
// alone and beside what has a type that prints names.
var namings = []string{
	"SELECT %[1]s::oid::%[2]s", "SELECT %[1]s::%[2]s", "SELECT '%[1]s'::%[2]s", "SELECT ('%[1]s'::text)::%[2]s", "SELECT CAST(%[1]s AS %[2]s)::text",
	"SELECT array_agg(%[1]s::%[2]s)", "SELECT format('%%s', %[1]s::%[2]s)", "SELECT to_json(%[1]s::%[2]s)", "SELECT concat(%[1]s::oid::%[2]s)",
	"SELECT CASE WHEN true THEN '%[1]s' ELSE 0::%[2]s END", "SELECT coalesce(NULLIF(0, 0)::%[2]s, '%[1]s')", "VALUES (0::%[2]s), ('%[1]s')",
	"SELECT 0::%[2]s UNION ALL SELECT '%[1]s'", "SELECT greatest('%[1]s', 0::%[2]s)", "SELECT (ARRAY[0::%[2]s, '%[1]s'])[2]",
}

// described are functions that tell of an object by its number.
var described = []string{
	"format_type(%s, NULL)", "pg_get_userbyid(%s)", "pg_get_constraintdef(%s)", "pg_get_indexdef(%s)", "pg_get_triggerdef(%s)", "pg_get_viewdef(%s)",
	"pg_get_statisticsobjdef(%s)", "pg_get_statisticsobjdef_columns(%s)", "pg_get_partkeydef(%s)", "pg_get_function_arguments(%s)", "pg_get_function_result(%s)",
	"pg_get_function_identity_arguments(%s)", "pg_get_functiondef(%s)", "pg_get_function_arg_default(%s, 1)", "obj_description(%s)", "obj_description(%s, 'pg_proc')",
	"obj_description(%s, 'pg_operator')", "obj_description(%s, 'pg_class')", "shobj_description(%s, 'pg_database')", "col_description(%s, 1)",
}

// TestNumbersTellNoNames asks for the name of every hidden object by its number, and draws
// the number into every column of a system relation.
func TestNumbersTellNoNames(t *testing.T) {
	t.Parallel()
	start(t)
	conn := connect(t)
	_, all := objects(t, conn)
	kinds := bySuperuser[string](t, "SELECT typname::text FROM pg_type WHERE typname ~ '^reg' AND typnamespace = 'pg_catalog'::regnamespace")
	var sample []hiddenObject
	for _, o := range all {
		if strings.Contains(o.name, "canary") || o.name == "#%%#" || o.name == "gtrgm" || o.name == "hstore" || o.name == "citext" {
			sample = append(sample, o)
		}
	}
	if len(sample) < 60 || len(kinds) < 11 {
		t.Fatalf("only %d objects and %v", len(sample), kinds)
	}
	var statements []string
	for _, o := range sample {
		for _, kind := range kinds {
			for i, form := range namings {
				if i == 0 || o == sample[0] || strings.Contains(o.name, "canary_builtin") || o.name == "#%%#" {
					statements = append(statements, fmt.Sprintf(form, o.oid, kind))
				}
			}
		}
		for _, form := range described {
			statements = append(statements, "SELECT "+fmt.Sprintf(form, o.oid))
		}
	}
	statements = append(statements, drawn(t, conn, sample)...)
	answered := 0
	for _, sql := range statements {
		results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
		answer := fmt.Sprint(errorOf(err))
		for _, result := range results {
			for _, row := range result.Rows {
				answered++
				answer += " " + string(row[0])
			}
		}
		for _, o := range sample {
			if strings.Contains(sql, o.oid) && strings.Contains(answer, o.name) {
				t.Errorf("%s tells %s: %s", sql, o.name, answer)
			}
		}
	}
	t.Logf("%d statements about %d objects, %d values", len(statements), len(sample), answered)
	if answered < len(statements)/4 {
		t.Errorf("only %d values came back", answered)
	}
}

func errorOf(err error) string {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return refusal.Message + refusal.Detail + refusal.Hint
	}
	return ""
}

// drawn has numbers take the type of every column of every system relation.
func drawn(t *testing.T, conn *pgx.Conn, sample []hiddenObject) (statements []string) {
	t.Helper()
	for _, relation := range systemRelations(t, conn) {
		reader := conn.PgConn().ExecParams(t.Context(), "SELECT * FROM "+relation+" LIMIT 0", nil, nil, nil, nil)
		fields := slices.Clone(reader.FieldDescriptions())
		if _, err := reader.Close(); err != nil {
			t.Fatalf("%s: %v", relation, err)
		}
		for _, field := range fields {
			for _, typ := range []uint32{24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191} {
				if field.DataTypeOID == typ {
					t.Errorf("%s.%s is of type %d, which prints names", relation, field.Name, typ)
				}
			}
			if field.DataTypeOID == 26 || field.DataTypeOID > firstUserOID {
				o := sample[len(statements)%len(sample)]
				statements = append(statements, fmt.Sprintf("SELECT CASE WHEN true THEN '%s' ELSE %s END FROM %s LIMIT 1", o.oid, pgx.Identifier{field.Name}.Sanitize(), relation))
			}
		}
	}
	if len(statements) < 100 {
		t.Fatalf("only %d columns", len(statements))
	}
	return statements
}
