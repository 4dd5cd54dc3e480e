package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// transaction is what a writer sends between BEGIN and its end.
type transaction struct {
	statements []statement
	commit     bool
}

// statement is one statement, or the rows of a COPY, and a pause behind it.
type statement struct {
	sql   string
	rows  string
	pause time.Duration
}

// script draws the transactions of one writer. It never looks at the database: the
// same seed gives the same statements.
type script struct {
	rng    *rand.Rand
	shapes []*shape
}

func newScript(seed uint64, writer int, shapes []*shape) *script {
	return &script{rng: rand.New(rand.NewPCG(seed, uint64(writer)+1)), shapes: shapes}
}

func (s *script) oneIn(n int) bool { return s.rng.IntN(n) == 0 }

// next draws a transaction: most have one operation, some several, with savepoints
// that are released or rolled back, and some stay open for a while.
func (s *script) next() transaction {
	t := transaction{commit: !s.oneIn(14)}
	operations := 1
	if s.oneIn(3) {
		operations = 2 + s.rng.IntN(6)
	}
	for range operations {
		step := s.operation()
		if operations > 1 && s.oneIn(4) {
			end := "RELEASE s"
			if s.oneIn(2) {
				end = "ROLLBACK TO s"
			}
			step = slices.Concat([]statement{{sql: "SAVEPOINT s"}}, step, []statement{{sql: end}})
		}
		if s.oneIn(30) {
			step[len(step)-1].pause = time.Duration(20+s.rng.IntN(300)) * time.Millisecond
		}
		t.statements = append(t.statements, step...)
	}
	return t
}

// operations are what can happen to a table, with how often they do.
var operations = []struct {
	weight int
	make   func(*script, *shape) []statement
}{
	{10, (*script).insert},
	{16, (*script).update},
	{8, (*script).delete},
	{5, (*script).changeKey},
	{4, (*script).swap},
	{3, (*script).updateMany},
	{3, (*script).deleteMany},
	{3, (*script).insertMany},
	{2, (*script).copyIn},
	{3, (*script).again},
	{2, (*script).comeAndGo},
	{2, (*script).touch},
	{1, (*script).truncate},
	{1, (*script).changeLeaves},
}

func (s *script) operation() []statement {
	total := 0
	for _, o := range operations {
		total += o.weight
	}
	drawn := s.rng.IntN(total)
	table := s.shapes[s.rng.IntN(len(s.shapes))]
	for _, o := range operations {
		if drawn -= o.weight; drawn < 0 {
			return o.make(s, table)
		}
	}
	return nil
}

func one(format string, arguments ...any) []statement {
	return []statement{{sql: fmt.Sprintf(format, arguments...)}}
}

func literals(row []datum) string {
	texts := make([]string, len(row))
	for i, d := range row {
		texts[i] = d.literal()
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

func insertInto(t *shape, rows ...[]datum) string {
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = literals(row)
	}
	sql := fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", t.sql(), t.columnList(all), strings.Join(texts, ", "))
	if t.keyed() && !t.deferred { // a deferred key is no arbiter
		sql += " ON CONFLICT DO NOTHING"
	}
	return sql
}

// add inserts rows whose keys may be taken. Where the server cannot pass over these,
// the rows that have them go first.
func (s *script) add(t *shape, rows ...[]datum) []statement {
	if !t.deferred {
		return []statement{{sql: insertInto(t, rows...)}}
	}
	statements, rows := makeRoom(t, rows)
	return append(statements, statement{sql: insertInto(t, rows...)})
}

// makeRoom deletes the rows that have the keys of others, which it gives with each key
// once.
func makeRoom(t *shape, rows [][]datum) ([]statement, [][]datum) {
	var conditions []string
	var different [][]datum
	for _, row := range rows {
		if at := "(" + t.at(row) + ")"; !slices.Contains(conditions, at) {
			conditions, different = append(conditions, at), append(different, row)
		}
	}
	return one("DELETE FROM %s WHERE %s", t.sql(), strings.Join(conditions, " OR ")), different
}

// insert adds a row, or changes the one that is there.
func (s *script) insert(t *shape) []statement {
	row := t.row(s.rng)
	if t.keyed() && !t.deferred && s.oneIn(2) {
		var sets []string
		for _, c := range t.columns {
			if !c.key {
				name := catalog.QuoteIdentifier(c.name)
				sets = append(sets, fmt.Sprintf("%[1]s = excluded.%[1]s", name))
			}
		}
		return one("INSERT INTO %s (%s) VALUES %s ON CONFLICT (%s) DO UPDATE SET %s",
			t.sql(), t.columnList(all), literals(row), t.columnList(isKey), strings.Join(sets, ", "))
	}
	return s.add(t, row)
}

// where is a condition that one row at most meets; without a key, of equal rows any.
func (s *script) where(t *shape) string {
	if !t.keyed() {
		return fmt.Sprintf("ctid = (SELECT ctid FROM %s OFFSET %d LIMIT 1)", t.sql(), s.rng.IntN(60))
	}
	return t.at(t.row(s.rng))
}

// at is the condition that the key is that of a row.
func (s *shape) at(row []datum) string {
	var conditions []string
	for i, c := range s.columns {
		if c.key {
			conditions = append(conditions, fmt.Sprintf("%s = %s", catalog.QuoteIdentifier(c.name), row[i].literal()))
		}
	}
	return strings.Join(conditions, " AND ")
}

// sets draws new values for one to three columns; what is long is left alone mostly, so
// that the stream leaves it out.
func (s *script) sets(t *shape) string {
	var sets []string
	for range 1 + s.rng.IntN(3) {
		c := t.columns[s.rng.IntN(len(t.columns))]
		set := catalog.QuoteIdentifier(c.name) + " = "
		if !c.key && !slices.ContainsFunc(sets, func(other string) bool { return strings.HasPrefix(other, set) }) {
			sets = append(sets, set+c.of(s.rng).literal())
		}
	}
	if len(sets) == 0 {
		last := t.columns[len(t.columns)-1]
		return catalog.QuoteIdentifier(last.name) + " = " + last.of(s.rng).literal()
	}
	return strings.Join(sets, ", ")
}

func (s *script) update(t *shape) []statement {
	return one("UPDATE %s SET %s WHERE %s", t.sql(), s.sets(t), s.where(t))
}

func (s *script) delete(t *shape) []statement {
	return one("DELETE FROM %s WHERE %s", t.sql(), s.where(t))
}

// keySets are assignments that give a row the key of another.
func keySets(t *shape, row []datum) string {
	var sets []string
	for i, c := range t.columns {
		if c.key {
			sets = append(sets, fmt.Sprintf("%s = %s", catalog.QuoteIdentifier(c.name), row[i].literal()))
		}
	}
	return strings.Join(sets, ", ")
}

// changeKey moves a row to a key that is free.
func (s *script) changeKey(t *shape) []statement {
	if !t.keyed() {
		return s.update(t)
	}
	from, to := t.row(s.rng), t.row(s.rng)
	return one("UPDATE %[1]s SET %[2]s WHERE %[3]s AND NOT EXISTS (SELECT FROM %[1]s WHERE %[4]s)", t.sql(), keySets(t, to), t.at(from), t.at(to))
}

// swap has two rows exchange their keys: in one statement where the key is checked
// late, else by way of a third key.
func (s *script) swap(t *shape) []statement {
	if !t.keyed() {
		return s.update(t)
	}
	a, b, third := t.row(s.rng), t.row(s.rng), t.row(s.rng)
	if t.deferred {
		name, x, y := catalog.QuoteIdentifier(t.columns[0].name), a[0].literal(), b[0].literal()
		return one("UPDATE %[1]s SET %[2]s = CASE %[2]s::text WHEN %[3]s THEN %[4]s::int ELSE %[3]s::int END WHERE %[2]s IN (%[3]s, %[4]s)", t.sql(), name, x, y)
	}
	move := func(from, to []datum) statement {
		return statement{sql: fmt.Sprintf("UPDATE %s SET %s WHERE %s", t.sql(), keySets(t, to), t.at(from))}
	}
	clear := statement{sql: fmt.Sprintf("DELETE FROM %s WHERE %s", t.sql(), t.at(third))}
	return []statement{clear, move(a, third), move(b, a), move(third, b)}
}

// some is a condition that a share of the rows meet.
func (s *script) some(t *shape) string {
	n := 2 + s.rng.IntN(9)
	return fmt.Sprintf("abs(hashtext(%s::text)) %% %d = %d", t.sql(), n, s.rng.IntN(n))
}

func (s *script) updateMany(t *shape) []statement {
	return one("UPDATE %s SET %s WHERE %s", t.sql(), s.sets(t), s.some(t))
}

func (s *script) deleteMany(t *shape) []statement {
	return one("DELETE FROM %s WHERE %s", t.sql(), s.some(t))
}

func (s *script) rows(t *shape, most int) [][]datum {
	rows := make([][]datum, 1+s.rng.IntN(most))
	for i := range rows {
		rows[i] = t.row(s.rng)
	}
	return rows
}

func (s *script) insertMany(t *shape) []statement {
	return s.add(t, s.rows(t, 120)...)
}

// copyIn makes room for the rows first, and brings each key once.
func (s *script) copyIn(t *shape) []statement {
	var statements []statement
	rows := s.rows(t, 60)
	if t.keyed() {
		statements, rows = makeRoom(t, rows)
	}
	var text strings.Builder
	for _, row := range rows {
		for i, d := range row {
			if i > 0 {
				text.WriteByte('\t')
			}
			text.WriteString(d.copyText())
		}
		text.WriteByte('\n')
	}
	return append(statements, statement{sql: fmt.Sprintf("COPY %s (%s) FROM STDIN", t.sql(), t.columnList(all)), rows: text.String()})
}

// again deletes a row and inserts one with its key.
func (s *script) again(t *shape) []statement {
	row := t.row(s.rng)
	if !t.keyed() {
		return append(s.delete(t), s.add(t, row)...)
	}
	return []statement{{sql: fmt.Sprintf("DELETE FROM %s WHERE %s", t.sql(), t.at(row))}, {sql: insertInto(t, row)}}
}

// comeAndGo inserts a row, changes it and deletes it.
func (s *script) comeAndGo(t *shape) []statement {
	row := t.row(s.rng)
	if !t.keyed() {
		return s.add(t, row, row)
	}
	return append(s.add(t, row),
		statement{sql: fmt.Sprintf("UPDATE %s SET %s WHERE %s", t.sql(), s.sets(t), t.at(row))},
		statement{sql: fmt.Sprintf("DELETE FROM %s WHERE %s", t.sql(), t.at(row))})
}

// touch updates rows to what they are.
func (s *script) touch(t *shape) []statement {
	name := catalog.QuoteIdentifier(t.columns[s.rng.IntN(len(t.columns))].name)
	return one("UPDATE %s SET %[2]s = %[2]s WHERE %[3]s", t.sql(), name, s.some(t))
}

// truncate empties one table or several at once, and mostly fills them again.
func (s *script) truncate(t *shape) []statement {
	emptied := []*shape{t}
	for _, other := range s.shapes {
		if other != t && s.oneIn(2) {
			emptied = append(emptied, other)
		}
	}
	var names []string
	for _, e := range emptied {
		names = append(names, e.sql())
	}
	statements := one("TRUNCATE %s", strings.Join(names, ", "))
	for _, e := range emptied {
		if !s.oneIn(3) {
			statements = append(statements, s.insertMany(e)...)
		}
	}
	return statements
}

// changeLeaves truncates a partition, or takes one off or puts it on again. What the
// stream does not tell, a message in it tells the oracle, at the same commit.
func (s *script) changeLeaves(t *shape) []statement {
	if t.far == "" {
		return s.update(t)
	}
	if s.oneIn(2) {
		return one("TRUNCATE %s", t.leaves[s.rng.IntN(len(t.leaves))])
	}
	tell := func(what string) string {
		return fmt.Sprintf("PERFORM pg_logical_emit_message(true, '%s', '%s')", oracleMessage, what+t.far)
	}
	return one(`DO $$ BEGIN
		LOCK TABLE %[1]s IN ACCESS EXCLUSIVE MODE;
		IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = '%[2]s'::regclass) THEN
			ALTER TABLE %[1]s DETACH PARTITION %[2]s; %[3]s;
		ELSE
			ALTER TABLE %[1]s ATTACH PARTITION %[2]s FOR VALUES IN ('far'); %[4]s;
		END IF; END $$`, t.sql(), t.far, tell("-"), tell("+"))
}
