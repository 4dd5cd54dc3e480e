package integration

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// school has readable tables. What is in every kind of object that can name a column is
// added by unserved, after the tables were accepted.
const school = `CREATE SCHEMA school; CREATE SCHEMA closed; CREATE TYPE closed.qvzclosed AS ENUM ('a'); CREATE EXTENSION IF NOT EXISTS btree_gist;
	CREATE TABLE school.floors (floor int PRIMARY KEY, note text);
	CREATE TABLE school.rooms (room text PRIMARY KEY, floor int REFERENCES school.floors, seats int DEFAULT 20 CONSTRAINT shown_check CHECK (seats > 0), words tsvector, span int4range);
	CREATE INDEX shown_index ON school.rooms (floor) INCLUDE (seats) WHERE seats > 1; CREATE INDEX ON school.rooms (upper(room)); CREATE STATISTICS school.shown_statistics ON floor, seats FROM school.rooms;
	CREATE TRIGGER shown_trigger BEFORE UPDATE OF seats ON school.rooms FOR EACH ROW WHEN (OLD.seats < 5) EXECUTE FUNCTION suppress_redundant_updates_trigger();
	COMMENT ON COLUMN school.rooms.seats IS 'shown comment';
	INSERT INTO school.floors VALUES (1, 'low'); INSERT INTO school.rooms SELECT 'room ' || i, 1 FROM generate_series(1, 9) i;
	CREATE TABLE school.twin (%s);
	CREATE TABLE school.part (room text, floor int);
	CREATE TABLE school.people (id int PRIMARY KEY, age int); INSERT INTO school.people SELECT i, i %% 5 FROM generate_series(1, 50) i`

const unserved = `CREATE TYPE school.qvzmood AS ENUM ('qvzlabel'); CREATE COLLATION school.qvzcollation FROM "C"; CREATE TYPE school.qvzpair AS (qvzfield int);
	CREATE DOMAIN school.qvzdomain AS text DEFAULT 'qvzdomaindefault' CONSTRAINT qvzdomaincheck CHECK (VALUE <> 'qvzdomainvalue');
	CREATE TYPE school.qvzrange AS RANGE (SUBTYPE = float4);
	ALTER TABLE school.rooms ADD qvzcol text DEFAULT 'qvzdefault' NOT NULL CONSTRAINT qvzcheck CHECK (qvzcol <> 'qvzchecked'),
		ADD qvzmooded school.qvzmood, ADD qvzcollated text COLLATE school.qvzcollation, ADD qvzpaired school.qvzpair[], ADD qvzdomained school.qvzdomain, ADD qvzranged school.qvzrange,
		ADD qvzserial serial, ADD qvzidentity int GENERATED ALWAYS AS IDENTITY, ADD qvzgenerated text GENERATED ALWAYS AS (room || 'qvzgeneration') STORED,
		ADD qvzfloor int DEFAULT 1 CONSTRAINT qvzforeign REFERENCES school.floors, ADD qvzself text CONSTRAINT qvzselfkey REFERENCES school.rooms;
	ALTER TABLE school.rooms ADD CONSTRAINT qvzunique UNIQUE (qvzcol, room) INCLUDE (seats), ADD CONSTRAINT qvzincluding UNIQUE (room, floor) INCLUDE (qvzcol),
		ADD CONSTRAINT qvzboth CHECK (seats > 0 OR qvzcol = 'qvzother'), ADD CONSTRAINT qvzwhole CHECK (rooms IS DISTINCT FROM NULL),
		ADD CONSTRAINT qvzserialkey UNIQUE (qvzserial), ADD CONSTRAINT qvzexcluded EXCLUDE USING gist (span WITH &&) WHERE (qvzcol = 'qvzexclusion'),
		ADD CONSTRAINT qvzdeferred UNIQUE (qvzidentity) DEFERRABLE;
	ALTER TABLE school.twin ADD qvzto int CONSTRAINT qvztokey REFERENCES school.rooms (qvzserial);
	CREATE INDEX qvzindex ON school.rooms (qvzcol, room); CREATE INDEX qvzexpression ON school.rooms (lower(qvzcol || 'qvzconstant')); CREATE INDEX qvzpartial ON school.rooms (seats) WHERE qvzcol = 'qvzpredicate';
	CREATE INDEX qvzcollates ON school.rooms (room COLLATE school.qvzcollation); CREATE INDEX qvzincluded ON school.rooms (seats) INCLUDE (qvzcol); CREATE INDEX qvzrow ON school.rooms (seats) WHERE rooms IS NOT NULL; CREATE INDEX qvzrows ON school.rooms ((rooms IS NULL));
	CREATE STATISTICS school.qvzstatistics ON seats, qvzcol FROM school.rooms; ANALYZE school.rooms;
	DO $$ BEGIN IF current_setting('server_version_num')::int >= 140000 THEN EXECUTE 'CREATE STATISTICS school.qvzexpressions ON lower(qvzcol), seats FROM school.rooms'; END IF; END $$;
	CREATE TRIGGER qvztrigger AFTER UPDATE OF qvzcol ON school.rooms FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
	CREATE TRIGGER qvzwhen BEFORE UPDATE ON school.rooms FOR EACH ROW WHEN (OLD.qvzcol = 'qvzcondition') EXECUTE FUNCTION suppress_redundant_updates_trigger();
	CREATE TRIGGER qvzwhenrow AFTER UPDATE ON school.rooms FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION suppress_redundant_updates_trigger();
	CREATE TRIGGER qvzarguments BEFORE UPDATE ON school.rooms FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger('words', 'pg_catalog.english', 'qvzcol');
	CREATE CONSTRAINT TRIGGER qvzconstraint AFTER UPDATE OF qvzcol ON school.rooms DEFERRABLE FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
	CREATE RULE qvzrule AS ON UPDATE TO school.rooms WHERE NEW.qvzcol = 'qvzruled' DO ALSO NOTHING;
	CREATE POLICY qvzpolicy ON school.rooms USING (qvzcol = 'qvzqualified');
	COMMENT ON COLUMN school.rooms.qvzcol IS 'qvzcomment'; COMMENT ON INDEX school.qvzindex IS 'qvzindexcomment'; COMMENT ON CONSTRAINT qvzcheck ON school.rooms IS 'qvzconstraintcomment';
	COMMENT ON TRIGGER qvztrigger ON school.rooms IS 'qvztriggercomment'; COMMENT ON SEQUENCE school.rooms_qvzserial_seq IS 'qvzsequencecomment'; COMMENT ON STATISTICS school.qvzstatistics IS 'qvzstatisticscomment';
	ALTER TABLE school.part ADD qvzkey text;
	CREATE TABLE school.qvzparent (room text, floor int, qvzkey text) PARTITION BY LIST (qvzkey)`

// unservedCanary finds what no reader may be shown, the bytes of constants in stored expressions too.
var unservedCanary = regexp.MustCompile(`qvz|113 118 122|\\x71767a`)

// TestUnservedColumns adds columns to readable tables, which are not served before they are
// accepted, with objects of every kind that can name a column. Readers learn nothing of it: all
// relations of the catalogs and of information_schema are as they were, and no function that
// describes an object by its number tells of a column, or of a value of one.
func TestUnservedColumns(t *testing.T) {
	t.Parallel()
	var twins []string
	for i := range 40 {
		twins = append(twins, fmt.Sprintf("c%d int CHECK (c%d > 0)", i+1, i+1))
	}
	s := ready(t, sqlSite(fmt.Sprintf(school, strings.Join(twins, ", ")), `tables:
  school.people:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric, publish: value}}
    constraints: [{k: 3}]
readable: [school.floors, school.rooms, school.twin, school.part]
`))
	u := unservedWorld{client: connect(t, s.url()), admin: connect(t, s.admin)}
	relations := scalar[[]string](t, u.admin, `SELECT array_agg(n.nspname || '.' || quote_ident(c.relname) ORDER BY c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')`)
	before, again := u.read(t, relations), u.read(t, relations)
	execute(t, u.admin, unserved, pgx.QueryExecModeSimpleProtocol)
	if answered := len(before); answered < 100 || !strings.Contains(before["pg_catalog.pg_constraint"], "shown_check") || !strings.Contains(before["pg_catalog.pg_trigger"], "shown_trigger") {
		t.Fatalf("%d relations are read, and constraints and triggers are\n%s\n%s", answered, before["pg_catalog.pg_constraint"], before["pg_catalog.pg_trigger"])
	}
	after := u.read(t, relations)
	for _, relation := range slices.Sorted(maps.Keys(before)) {
		if before[relation] == again[relation] && after[relation] != before[relation] {
			t.Errorf("%s tells of columns that are not served:\n%s", relation, difference(before[relation], after[relation]))
		}
	}
	u.quiet(t, after)
	u.describes(t)
	u.namesTypes(t)
	// The table becomes a part by a column that is not served.
	execute(t, u.admin, "ALTER TABLE school.qvzparent ATTACH PARTITION school.part FOR VALUES IN ('qvzbound')")
	u.quiet(t, u.read(t, []string{"pg_catalog.pg_class", "pg_catalog.pg_inherits", "pg_catalog.pg_partitioned_table"}))
	for _, sql := range []string{"SELECT pg_get_expr(relpartbound, oid), pg_get_partition_constraintdef(oid) FROM pg_class"} {
		if rows, err := u.rows(t, sql); err != nil || unservedCanary.MatchString(strings.Join(rows, " ")) {
			t.Errorf("%s: %v, %v", sql, rows, err)
		}
	}
}

type unservedWorld struct{ client, admin *pgx.Conn }

// read gives all rows of the relations that clients may read.
func (u unservedWorld) read(t *testing.T, relations []string) map[string]string {
	t.Helper()
	shown := make(map[string]string)
	for _, relation := range relations {
		if rows, err := u.rows(t, "SELECT * FROM "+relation); err == nil {
			slices.Sort(rows)
			shown[relation] = strings.Join(rows, "\n")
		} else if unservedCanary.MatchString(err.Error()) {
			t.Errorf("%s: %v", relation, err)
		}
	}
	return shown
}

func (u unservedWorld) rows(t *testing.T, sql string) (rows []string, err error) {
	t.Helper()
	results, err := u.client.PgConn().Exec(t.Context(), sql).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			rows = append(rows, fmt.Sprintf("%q", row))
		}
	}
	return rows, err
}

// quiet wants no canary in what was read.
func (u unservedWorld) quiet(t *testing.T, shown map[string]string) {
	t.Helper()
	for relation, rows := range shown {
		for row := range strings.SplitSeq(rows, "\n") {
			if unservedCanary.MatchString(row) {
				t.Errorf("%s shows %s", relation, row)
			}
		}
	}
}

// difference are the rows that one has and the other has not.
func difference(before, after string) string {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	var text strings.Builder
	for _, row := range was {
		if !slices.Contains(is, row) {
			fmt.Fprintln(&text, "-", row)
		}
	}
	for _, row := range is {
		if !slices.Contains(was, row) {
			fmt.Fprintln(&text, "+", row)
		}
	}
	return text.String()
}

// describer is a function that is called with numbers of objects.
type describer struct {
	Name      string
	Arguments []string
}

// isPrivilege says whether an argument names a privilege.
func (d describer) isPrivilege(i int) bool {
	return i > 0 && i == len(d.Arguments)-1 && strings.HasPrefix(d.Name, "pg_catalog.has_")
}

// isRole says whether an argument is whose privileges are asked for, who comes before what they
// are on: a column is named by its relation and its name or number.
func (d describer) isRole(i int) bool {
	most := 3
	if d.Name == "pg_catalog.has_column_privilege" {
		most = 4
	}
	return i == 0 && len(d.Arguments) == most && strings.HasPrefix(d.Name, "pg_catalog.has_")
}

// describes calls every function that takes the number of an object, and those that take the
// name of a column, with all objects and names that there are.
func (u unservedWorld) describes(t *testing.T) {
	t.Helper()
	numbers := scalar[string](t, u.admin, `SELECT string_agg(DISTINCT number::text, ',') FROM pg_class c
		CROSS JOIN LATERAL (SELECT (xpath('//oid/text()', query_to_xml('SELECT oid FROM ' || c.oid::regclass || ' WHERE oid >= 16384', true, false, '')))::text[]) AS x(found)
		CROSS JOIN LATERAL unnest(x.found) AS o(number)
		WHERE c.relkind = 'r' AND c.relnamespace = 'pg_catalog'::regnamespace AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'oid')`)
	rows, err := u.admin.Query(t.Context(), `SELECT quote_ident(n.nspname) || '.' || quote_ident(p.proname), ARRAY(SELECT format_type(a, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS x(a, place) ORDER BY place)
		FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname IN ('pg_catalog', 'information_schema') AND p.prokind = 'f' AND p.pronargs BETWEEN 1 AND 4
		AND p.proargtypes::oid[] && '{oid,regclass}'::regtype[]::oid[] AND p.proargtypes::oid[] <@ '{oid,regclass,smallint,integer,boolean,text,name,pg_node_tree}'::regtype[]::oid[]
		AND p.proname !~ '^(oid|lo_|pg_stat_(reset|get)|pg_advisory)'`)
	if err != nil {
		t.Fatal(err)
	}
	functions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[describer])
	if err != nil {
		t.Fatal(err)
	}
	// Where there are more arguments, the objects are relations, which have columns.
	relations := scalar[string](t, u.admin, "SELECT string_agg(oid::text, ',') FROM pg_class WHERE relnamespace = 'school'::regnamespace AND (relname ~ 'rooms|part' OR relname ~ 'qvz')")
	tables := scalar[string](t, u.admin, "SELECT string_agg(oid::text, ',') FROM pg_class WHERE relnamespace = 'school'::regnamespace AND relname ~ 'rooms|part|qvz' AND relkind IN ('r', 'p')")
	const columns = "(SELECT unnest('{qvzcol,qvzserial,qvzidentity,room,SELECT}'::text[]))"
	from := map[string]string{
		"oid": "unnest('{" + numbers + "}'::oid[])", "regclass": "unnest('{" + numbers + "}'::oid[])", "boolean": "(SELECT true UNION ALL SELECT false)",
		"smallint": "(SELECT i::smallint FROM generate_series(0, 18) i)", "integer": "generate_series(0, 18)", "text": columns, "name": columns,
		"pg_node_tree": "(SELECT adbin FROM pg_attrdef UNION ALL SELECT conbin FROM pg_constraint WHERE conbin IS NOT NULL AND conname ~ 'shown|twin_c([5-9]|1.)_' UNION ALL SELECT indexprs FROM pg_index WHERE indexprs IS NOT NULL UNION ALL SELECT indpred FROM pg_index WHERE indpred IS NOT NULL UNION ALL SELECT relpartbound FROM pg_class WHERE relpartbound IS NOT NULL UNION ALL SELECT NULL)",
	}
	answered := 0
	for _, f := range functions {
		var sources, arguments []string
		for i, typ := range f.Arguments {
			source := from[typ]
			switch {
			case f.isRole(i):
				source = map[string]string{"oid": "unnest('{10,1}'::oid[])", "name": "unnest('{postgres,qvzcol}'::text[])"}[typ]
			case f.isPrivilege(i):
				source = "(SELECT 'SELECT')"
			case slices.Contains(f.Arguments, "pg_node_tree"): // an index has too few columns for most expressions, which ends a statement
				source = strings.ReplaceAll(source, numbers, tables)
			case len(f.Arguments) > 1:
				source = strings.ReplaceAll(source, numbers, relations)
			}
			sources = append(sources, fmt.Sprintf("%s AS x%d(a%d)", source, i, i))
			arguments = append(arguments, fmt.Sprintf("a%d%s", i, map[string]string{"regclass": "::regclass", "name": "::name"}[typ]))
		}
		called := f.Name + "(" + strings.Join(arguments, ", ") + ")"
		sql := "SELECT " + called + " FROM " + strings.Join(sources, ", ")
		results, err := u.rows(t, sql)
		if err == nil {
			answered++
		}
		for _, row := range results {
			if unservedCanary.MatchString(row) {
				t.Errorf("%s gives %s", called, row)
				break
			}
		}
		if err != nil && unservedCanary.MatchString(strings.ReplaceAll(err.Error(), `"qvzcol"`, "")) {
			t.Errorf("%s: %v", called, err)
		}
	}
	if answered < 40 {
		t.Errorf("only %d of %d functions answered", answered, len(functions))
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT pg_get_serial_sequence('school.rooms', 'qvzserial')", `column "qvzserial" of relation "rooms" does not exist`},
		{"SELECT pg_get_serial_sequence('school.rooms', 'qvzidentity')", `column "qvzidentity" of relation "rooms" does not exist`},
		{"SELECT has_column_privilege('school.rooms', 'qvzcol', 'SELECT')", `column "qvzcol" of relation "rooms" does not exist`},
	} {
		if _, err := u.rows(t, c.sql); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
}

// namesTypes looks up names of types and the like in schemas that readers may not use: nothing
// tells them from schemas that are not there.
func (u unservedWorld) namesTypes(t *testing.T) {
	t.Helper()
	for _, function := range []string{"to_regtype", "to_regproc", "to_regprocedure", "to_regoper", "to_regoperator", "to_regcollation", "to_regclass", "to_regrole", "to_regnamespace"} {
		for _, name := range []string{"%s.qvzclosed", "%s.qvzclosed[]", `"%s".x`, "%s . x", "lower(%s.x)", "%s.+", "%s.+(%s.x,int)", "%s"} {
			var answers []string
			for _, schema := range []string{"closed", "closes"} {
				rows, err := u.rows(t, fmt.Sprintf("SELECT %s('%s')", function, strings.ReplaceAll(name, "%s", schema)))
				answers = append(answers, strings.ReplaceAll(fmt.Sprint(rows, err), schema, "S"))
			}
			if answers[0] != answers[1] {
				t.Errorf("%s(%s): %s of what is hidden, %s of what is not there", function, name, answers[0], answers[1])
			}
		}
	}
	for name, want := range map[string]string{"school.people": "school.people", "school.rooms": "school.rooms", "pg_catalog.int4[]": "integer[]", "numeric(10, 2)": "numeric"} {
		if got := scalar[string](t, u.client, "SELECT to_regtype('"+name+"')::text"); got != want {
			t.Errorf("to_regtype(%s) is %s, wanted was %s", name, got, want)
		}
	}
}
