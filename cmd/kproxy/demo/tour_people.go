package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// peopleGuide walks through the hospital's tables about the same persons.
type peopleGuide struct {
	*guide // of the root
	people catalog.People
}

// joined are the persons with what they were treated for, as an analyst asks for them.
const joined = "persons JOIN stays USING (person_id) JOIN diagnoses USING (stay_id)"

func (g *peopleGuide) walkPeople(ctx context.Context) {
	g.step("persons, stays and diagnoses are joined by their keys", func() (string, error) { return g.join(ctx) })
	g.step("every key leads to its row", func() (string, error) { return g.follows(ctx) })
	g.step("no key is that of the source", func() (string, error) { return g.pseudonyms(ctx) })
	g.crowds(ctx)
	if g.table.Updates.Mode == catalog.Guarded {
		g.step("an admission inserted at the source waits for others", func() (string, error) {
			return g.unseen(ctx, admission, "public.stays", func(s ksync.TableStatus) bool { return s.Waiting >= 1 })
		})
		g.step("the rows of a person who is deleted at the source stay, in all tables", func() (string, error) {
			return g.unseen(ctx, departure, "public.persons", func(s ksync.TableStatus) bool { return s.Ghosts == 1 })
		})
	} else {
		g.step("an admission inserted at the source appears, with its diagnosis", func() (string, error) { return g.followAll(ctx, admission) })
		g.step("a person deleted at the source leaves all tables", func() (string, error) { return g.followAll(ctx, departure) })
	}
	g.crowds(ctx)
	for _, attack := range peopleAttacks {
		g.step("refused: "+attack, func() (string, error) { return g.refused(ctx, attack) })
	}
	g.step("the verifier agrees, over all tables together", func() (string, error) { return g.verifyPeople(ctx) })
}

// crowds shows whom outsiders are left with, by what they know.
func (g *peopleGuide) crowds(ctx context.Context) {
	g.hide(ctx, "every person hides among others")
	g.step("so does every person of whom an outsider knows the root row and one stay", func() (string, error) { return g.outsiders(ctx) })
}

// join has the same rows as at the source, but for those that are published without their keys.
func (g *peopleGuide) join(ctx context.Context) (string, error) {
	published, err := g.count(ctx, g.client, joined, "")
	if err != nil {
		return "", err
	}
	truth, err := g.count(ctx, g.owner, joined, "")
	if err == nil && (published == 0 || published > truth) {
		err = fmt.Errorf("%d rows, of %d at the source", published, truth)
	}
	return fmt.Sprintf("%d rows, of %d at the source", published, truth), err
}

// follows looks for keys that lead to no row of the table that rows belong to.
func (g *peopleGuide) follows(ctx context.Context) (string, error) {
	rows := 0
	for _, t := range g.people.Tables {
		parent, key := g.parent(t)
		lost := fmt.Sprintf("WHERE NOT EXISTS (SELECT FROM %s p WHERE p.%s = r.%s) AND r.%s IS NOT NULL", parent.SQL(), key, t.Link()[0], t.Link()[0])
		n, err := g.count(ctx, g.client, t.Table.SQL()+" r", lost)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d rows of %s do not find their row of %s", n, t.Table, parent)
		}
		if err != nil {
			return "", err
		}
		if n, err = g.count(ctx, g.client, t.Table.SQL(), "WHERE "+t.Link()[0]+" IS NOT NULL"); err != nil {
			return "", err
		}
		rows += n
	}
	return fmt.Sprintf("%d rows with keys in %d tables", rows, len(g.people.Tables)), nil
}

// parent is the table that rows of another one belong to, with its key.
func (g *peopleGuide) parent(t catalog.PeopleTable) (parent catalog.Name, key string) {
	if t.Direct() {
		return g.people.Root, g.people.Key[0]
	}
	i := slices.IndexFunc(g.people.Tables, func(p catalog.PeopleTable) bool { return p.Table == t.Through })
	return t.Through, g.people.Tables[i].Key[0]
}

// equalByChance bounds how many pseudonyms of 31 bits are keys of the source, of some thousands.
const equalByChance = 5

// pseudonyms compares the published keys of persons with those of the source.
func (g *peopleGuide) pseudonyms(ctx context.Context) (string, error) {
	published, err := g.keys(ctx, g.client)
	if err != nil {
		return "", err
	}
	raw, err := g.keys(ctx, g.owner)
	if err != nil {
		return "", err
	}
	equal := 0
	for _, key := range published {
		if _, found := slices.BinarySearch(raw, key); found {
			equal++
		}
	}
	if equal > equalByChance || len(published) == 0 {
		return "", fmt.Errorf("%d of %d are", equal, len(published))
	}
	return fmt.Sprintf("from %d to %d, where the source has %d to %d", published[0], published[len(published)-1], raw[0], raw[len(raw)-1]), nil
}

func (g *peopleGuide) keys(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	rows, _ := conn.Query(ctx, "SELECT person_id::bigint FROM persons ORDER BY 1") // the rows carry its error
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// outsider is what somebody knows of a person: the root row, and a day of admission.
type outsider struct {
	Born, Admitted time.Time
	Sex, Postcode  string
}

// candidate is a stay that is published with the key of its person.
type candidate struct {
	Person                   int32
	Born, BornBefore         time.Time
	Admitted, AdmittedBefore time.Time
	Sex, Postcode            string // * for any
}

// fits reports whether the stay can be that of the person whom somebody knows.
func (c candidate) fits(o outsider) bool {
	within := func(day, from, before time.Time) bool { return !day.Before(from) && day.Before(before) }
	return within(o.Born, c.Born, c.BornBefore) && within(o.Admitted, c.Admitted, c.AdmittedBefore) &&
		(c.Sex == "*" || c.Sex == o.Sex) && strings.HasPrefix(o.Postcode, strings.TrimRight(c.Postcode, "*"))
}

// asked is how many outsiders try to find somebody.
const asked = 200

// outsiders count the persons who fit what they know, k of them at least. Nobody fits where the
// stay is published without its keys.
func (g *peopleGuide) outsiders(ctx context.Context) (string, error) {
	rows, _ := g.owner.Query(ctx, "SELECT birth_date, admission_date, sex, postcode FROM persons JOIN stays USING (person_id) ORDER BY stay_id % 97, stay_id LIMIT $1", asked) // the rows carry its error
	known, err := pgx.CollectRows(rows, pgx.RowToStructByPos[outsider])
	if err != nil {
		return "", err
	}
	rows, _ = g.client.Query(ctx, "SELECT person_id, lower(birth_date_range), upper(birth_date_range), lower(admission_date_range), upper(admission_date_range), sex, postcode"+
		" FROM persons JOIN stays USING (person_id)") // likewise
	published, err := pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
	if err != nil {
		return "", err
	}
	var found []int
	for _, o := range known {
		left := make(map[int32]bool)
		for _, c := range published {
			if c.fits(o) {
				left[c.Person] = true
			}
		}
		if len(left) > 0 {
			found = append(found, len(left))
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("none of %d outsiders finds anybody", len(known))
	}
	if least := slices.Min(found); least < g.people.K() {
		return "", fmt.Errorf("an outsider is left with %d persons, below k = %d", least, g.people.K())
	}
	return fmt.Sprintf("%d of %d outsiders find somebody, and each %d to %d persons", len(found), len(known), slices.Min(found), slices.Max(found)), nil
}

// admission has somebody come again, with a diagnosis, and departure deletes the person of most stays,
// which takes them along.
const (
	admission = `WITH stay AS (
			INSERT INTO stays SELECT max(stay_id) + 1, min(person_id), max(admission_date), 3, min(ward), min(cost) FROM stays RETURNING stay_id)
		INSERT INTO diagnoses SELECT stay_id, 1, (SELECT min(code) FROM diagnoses) FROM stay`
	departure = "DELETE FROM persons WHERE person_id = (SELECT person_id FROM stays GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1)"
)

// unseen changes the source, waits until a table's status tells of it, and compares what readers have.
func (g *peopleGuide) unseen(ctx context.Context, change, table string, told func(ksync.TableStatus) bool) (string, error) {
	before, err := g.rows(ctx, g.client)
	if err != nil {
		return "", err
	}
	if _, err := g.owner.Exec(ctx, change); err != nil {
		return "", err
	}
	schema, relation, _ := strings.Cut(table, ".")
	if err := g.awaitStatusOf(ctx, catalog.Name{Schema: schema, Relation: relation}, told); err != nil {
		return "", err
	}
	now, err := g.rows(ctx, g.client)
	if err == nil && !slices.Equal(now, before) {
		err = fmt.Errorf("tables of %v rows became %v", before, now)
	}
	return fmt.Sprintf("the tables have %v rows, as before", now), err
}

// followAll changes the source, and waits until all tables have as many rows in one snapshot.
func (g *peopleGuide) followAll(ctx context.Context, change string) (string, error) {
	before, err := g.rows(ctx, g.owner)
	if err != nil {
		return "", err
	}
	if _, err := g.owner.Exec(ctx, change); err != nil {
		return "", err
	}
	want, err := g.rows(ctx, g.owner)
	if err != nil {
		return "", err
	}
	for started := time.Now(); ; {
		shown, err := g.rows(ctx, g.client)
		if err != nil {
			return "", err
		}
		if slices.Equal(shown, want) {
			return fmt.Sprintf("seen after %d ms", time.Since(started).Milliseconds()), nil
		}
		if !slices.Equal(shown, before) {
			return "", fmt.Errorf("tables of %v rows became %v on the way to %v", before, shown, want)
		}
		if time.Since(started) > patience {
			return "", fmt.Errorf("the tables have %v rows instead of %v", shown, want)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// rows counts the rows of all tables at one moment.
func (g *peopleGuide) rows(ctx context.Context, conn *pgx.Conn) (counted []int64, err error) {
	var counts []string
	for _, name := range g.people.Names() {
		counts = append(counts, "(SELECT count(*) FROM "+name.SQL()+")")
	}
	err = conn.QueryRow(ctx, "SELECT ARRAY["+strings.Join(counts, ", ")+"]").Scan(&counted)
	return counted, err
}

// peopleAttacks are statements that must not be answered.
var peopleAttacks = []string{
	"SELECT name FROM persons JOIN stays USING (person_id)",
	"SELECT national_id FROM persons",
	"SELECT prescription_id FROM prescriptions",
	"SELECT query_to_xml('SELECT * FROM persons', true, true, '')",
	"DELETE FROM persons",
}

// verifyPeople proves all tables together.
func (g *peopleGuide) verifyPeople(ctx context.Context) (string, error) {
	report, err := g.prove(ctx, g.people.Names()...)
	if err != nil {
		return "", err
	}
	promises := 0
	for _, t := range report {
		if !t.Passed() {
			return "", errors.New("'kproxy verify' found a broken promise about " + t.Table)
		}
		promises += len(t.Checks)
	}
	return fmt.Sprintf("%d promises about %d tables kept", promises, len(report)), nil
}
