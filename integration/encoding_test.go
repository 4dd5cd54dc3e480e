package integration

import "testing"

// TestDatabaseInLatin1 publishes a database in another encoding than UTF8, follows its changes, and
// proves what it has published.
func TestDatabaseInLatin1(t *testing.T) {
	t.Parallel()
	o := sqlSite(`CREATE TABLE people (id int PRIMARY KEY, age int, note text);
		INSERT INTO people SELECT i, i % 5, 'M' || chr(252) || 'ller' FROM generate_series(1, 30) i`,
		`tables:
  public.people:
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, note: sensitive}
    constraints: [{k: 3}]
`)
	o.create = []string{"TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'"}
	s := ready(t, o)
	execute(t, connect(t, s.admin), "UPDATE people SET note = chr(228) WHERE id <= 10")
	conn := connect(t, s.url())
	eventually(t, "the change is published", func() bool {
		var changed int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM people WHERE note = $1", "ä").Scan(&changed); err != nil {
			t.Fatal(err)
		}
		return changed == 10
	})
	var note string
	if err := conn.QueryRow(t.Context(), "SELECT max(note) FROM people WHERE note LIKE 'M%'").Scan(&note); err != nil || note != "Müller" {
		t.Errorf("a note is %q, %v", note, err)
	}
	s.kproxy(t, "verify").must(t)
}
