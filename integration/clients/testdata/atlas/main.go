// Atlas: what its commands find in the catalogs, and would do to make one schema of another.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	"ariga.io/atlas/sql/schema"
	_ "github.com/lib/pq" // takes the connection's parameters from the environment
)

func main() {
	// The driver has no use for it, and ends.
	if err := os.Unsetenv("PGHOSTADDR"); err != nil {
		panic(err)
	}
	db, err := sql.Open("postgres", "")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	ctx := context.Background()
	driver, err := postgres.Open(db)
	step("open", func() (string, error) { return fmt.Sprintf("%T", driver), err })
	if err != nil {
		return
	}
	// It reads no views, and so what both ways have of this schema without the protected table.
	const published = "public"
	others := []string{"patients"}
	var s *schema.Schema
	step("schema", func() (string, error) {
		s, err = driver.InspectSchema(ctx, published, &schema.InspectOptions{Exclude: others})
		return shown(s), err
	})
	if err == nil {
		step("as SQL", func() (string, error) {
			changes, err := driver.SchemaDiff(schema.New(published), s)
			if err != nil {
				return "", err
			}
			plan, err := driver.PlanChanges(ctx, "all", changes)
			if err != nil {
				return "", err
			}
			return commands(plan), nil
		})
		step("as HCL", func() (string, error) {
			text, err := postgres.MarshalHCL(s)
			return string(text), err
		})
		step("no difference", func() (string, error) {
			changes, err := driver.SchemaDiff(s, s)
			return fmt.Sprint(len(changes)), err
		})
	}
	step("realm", func() (string, error) {
		realm, err := driver.InspectRealm(ctx, &schema.InspectRealmOption{Schemas: []string{published}, Exclude: []string{"public.patients"}})
		if err != nil {
			return "", err
		}
		var seen []string
		for _, s := range realm.Schemas {
			seen = append(seen, shown(s))
		}
		return strings.Join(seen, " | "), nil
	})
	step("all schemas", func() (string, error) {
		realm, err := driver.InspectRealm(ctx, &schema.InspectRealmOption{Mode: schema.InspectSchemas})
		if err != nil {
			return "", err
		}
		_, ok := realm.Schema("public")
		return fmt.Sprint(ok), nil
	})
	// It has emptied search_path, and set it back.
	step("names after it", func() (string, error) {
		var n int
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM patients").Scan(&n)
		return fmt.Sprint(n), err
	})
	step("unknown schema", func() (string, error) {
		_, err := driver.InspectSchema(ctx, "nobody", nil)
		return "", err
	})
	step("lock", func() (string, error) {
		unlock, err := driver.Lock(ctx, "name", 0)
		if err != nil {
			return "", err
		}
		return "", unlock()
	})
	step("clean", func() (string, error) {
		_, err := driver.(migrate.Snapshoter).Snapshot(ctx)
		if err != nil && strings.Contains(err.Error(), "not clean") {
			return "not clean", nil // which table is found first differs
		}
		return "", err
	})
}

// step prints what a piece of work comes to.
func step(name string, work func() (string, error)) {
	text, err := work()
	if err != nil {
		text = "ERROR " + err.Error()
	}
	fmt.Printf("%s: %q\n", name, text)
}

// shown is what a schema has.
func shown(s *schema.Schema) string {
	if s == nil {
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", s.Name)
	for _, t := range s.Tables {
		fmt.Fprintf(&b, " table %s (", t.Name)
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "%s %s %t,", c.Name, c.Type.Raw, c.Type.Null)
		}
		fmt.Fprintf(&b, ") keys %v, %d indexes, %d foreign keys", t.PrimaryKey != nil, len(t.Indexes), len(t.ForeignKeys))
	}
	fmt.Fprintf(&b, " %d views", len(s.Views))
	return b.String()
}

// commands are a plan's statements.
func commands(plan *migrate.Plan) string {
	var all []string
	for _, c := range plan.Changes {
		all = append(all, c.Cmd)
	}
	return strings.Join(all, "; ")
}
