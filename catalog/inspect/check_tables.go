package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

type tableRow struct {
	Schema     string
	Relation   string
	Usable     bool
	Selectable bool
	// Unlogged are the table or those of its partitions whose changes are not in the
	// write-ahead log, quoted.
	Unlogged    []string
	RowSecurity bool
}

// checkTables compares each protected table with its policy.
func (c *checker) checkTables() error {
	schemas, relations := split(c.in.protected())
	rows, err := collect[tableRow](c.ctx, c.conn, "tables", schemas, relations, c.owner)
	if err != nil {
		return err
	}
	tables := map[catalog.Name]tableRow{}
	for _, row := range rows {
		tables[catalog.Name{Schema: row.Schema, Relation: row.Relation}] = row
	}
	_, problems, err := Publish(c.ctx, c.conn, c.in.Policy, c.relations)
	if err != nil {
		return err
	}
	for _, policy := range c.in.Policy.Tables {
		relation, exists := c.byName[policy.Table]
		if !exists { // which checkNames reports
			continue
		}
		c.checkPolicy(policy, relation, problems)
		c.checkTable(relation, tables[policy.Table])
	}
	return nil
}

// checkPolicy reports what Publish finds, and generated columns, which logical
// replication does not send.
func (c *checker) checkPolicy(policy catalog.TablePolicy, relation catalog.Relation, problems []catalog.Problem) {
	for _, p := range problems {
		if p.Table != policy.Table {
			continue
		}
		c.report = append(c.report, Finding{Severity: Error, Code: "policy", Table: p.Table, Column: p.Column, What: p.What, Fix: p.Fix})
	}
	for _, column := range relation.Columns {
		if named, ok := policy.Column(column.Name); ok && column.Generated && named.Role != catalog.Identifying {
			c.report = append(c.report, Finding{
				Severity: Error, Code: "generated-column", Table: relation.Name, Column: column.Name,
				What: "is a generated column, which logical replication does not send", Fix: "remove it from the policy",
			})
		}
	}
}

func (c *checker) checkTable(relation catalog.Relation, t tableRow) {
	name, owner := relation.Name, catalog.QuoteIdentifier(c.in.Owner)
	if !t.Usable {
		c.report.add(Error, "owner-grant", name, fmt.Sprintf("role %s may not look into its schema", c.in.Owner),
			"GRANT USAGE ON SCHEMA "+catalog.QuoteIdentifier(name.Schema)+" TO "+owner)
	}
	if !t.Selectable {
		c.report.add(Error, "owner-grant", name, fmt.Sprintf("role %s may not read it", c.in.Owner),
			"GRANT SELECT ON TABLE "+name.SQL()+" TO "+owner)
	}
	if len(t.Unlogged) > 0 {
		c.report.add(Error, "table-unlogged", name, "its changes are not in the write-ahead log: "+strings.Join(t.Unlogged, ", "),
			"ALTER TABLE "+strings.Join(t.Unlogged, " SET LOGGED;\nALTER TABLE ")+" SET LOGGED")
	}
	if t.RowSecurity {
		c.report.add(Error, "row-security", name, fmt.Sprintf("row security hides rows from role %s", c.in.Owner), "ALTER ROLE "+owner+" BYPASSRLS")
	}
}

type ownRow struct {
	Name   string
	Exists bool
	Owned  bool
	Usable bool
}

type nameRow struct{ Name string }

// checkOwn examines what setup makes.
func (c *checker) checkOwn() error {
	schemas := []string{catalog.StoreSchema, catalog.CatalogSchema, catalog.HelperSchema}
	for _, name := range c.published() {
		if release := catalog.ReleaseSchemaFor(c.in.audience, name.Schema); !slices.Contains(schemas, release) {
			schemas = append(schemas, release)
		}
	}
	rows, err := collect[ownRow](c.ctx, c.conn, "own", schemas, c.owner, c.reader)
	if err != nil {
		return err
	}
	complete := true
	for _, s := range rows {
		name, owner := catalog.QuoteIdentifier(s.Name), catalog.QuoteIdentifier(c.in.Owner)
		switch {
		case !s.Exists:
			complete = false
			c.report.add(Error, "schema-missing", none, "there is no schema "+s.Name, "run kproxy setup")
		case !s.Owned && s.Name == catalog.HelperSchema:
			complete = false
			c.report.add(Error, codeHelperSchema, none,
				fmt.Sprintf("schema %s does not belong to role %s, and kproxy has its helpers for analysts there", s.Name, c.in.Owner), makeRoom)
		case !s.Owned:
			c.report.add(Error, "schema-owner", none, fmt.Sprintf("schema %s does not belong to role %s", s.Name, c.in.Owner),
				"ALTER SCHEMA "+name+" OWNER TO "+owner)
		case s.Name != catalog.StoreSchema && !s.Usable:
			c.report.add(Error, "schema-usage", none, fmt.Sprintf("role %s may not look into schema %s", c.in.Reader, s.Name),
				"GRANT USAGE ON SCHEMA "+name+" TO "+catalog.QuoteIdentifier(c.in.Reader))
		}
	}
	if !complete {
		return nil
	}
	for _, step := range []func() error{c.checkStore, c.checkStandIns, c.checkHelpers, c.checkPublished} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// published are the tables and views that have a published form.
func (c *checker) published() []catalog.Name {
	names := c.in.seen()
	for _, v := range c.views {
		if v.Publishable() {
			names = append(names, v.Name)
		}
	}
	return names
}

// storeColumns are columns of the private store that earlier versions did not make.
var storeColumns = []string{
	"updates", "waiting", "stale", "ghosts", "untold", "expired", "oldest_waiting", "oldest_stale",
	"lsn", "shows", "previous", "halted", "halted_fix", "needs_consent", "asked", "noted", "definition", "heals", "returned", "hash_key", "promise", "audiences",
	"publication", "followed",
}

// storeRelations are relations that earlier versions did not make, with what is missing without them.
var storeRelations = []struct {
	names   []string
	without string
}{
	{[]string{"kproxy_store.audience_view"}, "published no views for audiences"},
	{[]string{"kproxy_store.accepted", "kproxy_store.policy"}, "did not keep what the operator accepts"},
	{[]string{"kproxy_catalog.heartbeat", "kproxy_store.applied"}, "could not tell whom the readers' servers follow"},
	{[]string{"kproxy_catalog.mark"}, "did not tell whether what readers see has changed"},
	{[]string{"kproxy_store.installation"}, "did not know whose configuration it is"},
	{[]string{"kproxy_store.source_view"}, "kept nothing of views whose source is in a database of its own"},
	{[]string{"kproxy_store.vanished"}, "had no guarded updates of several tables"},
}

// checkStore requires the private store to be that of this version.
func (c *checker) checkStore() error {
	for _, of := range []struct {
		table, what string
		columns     []string
	}{{"generation", "generations have", storeColumns}, {"position", "position has", []string{"timeline", "store_system", "store_timeline"}}, {"reader", "list of readers has", []string{"is_first", "audience"}}} {
		rows, err := collect[nameRow](c.ctx, c.conn, "store", catalog.StoreSchema, of.table, of.columns)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			c.report.add(Error, "store-old", none, fmt.Sprintf("the private store was made by an earlier version: its %s no %s", of.what, rows[0].Name),
				"run kproxy setup, which keeps what is there")
		}
	}
	for _, of := range storeRelations {
		var missing bool
		if err := c.conn.QueryRow(c.ctx, "SELECT bool_or(to_regclass(name) IS NULL) FROM unnest($1::text[]) AS name", of.names).Scan(&missing); err != nil {
			return fmt.Errorf("looking for the store's relations: %w", err)
		}
		if missing {
			c.report.add(Error, "store-old", none, "the private store was made by an earlier version, which "+of.without, "run kproxy setup, which keeps what is there")
		}
	}
	if c.in.audience != "" || len(c.published()) == len(c.in.Policy.Tables) {
		return nil
	}
	var exists bool
	if err := c.conn.QueryRow(c.ctx, "SELECT to_regclass('kproxy_store.view') IS NOT NULL").Scan(&exists); err != nil {
		return fmt.Errorf("looking for the store's list of views: %w", err)
	}
	if !exists {
		c.report.add(Error, "store-old", none, "the private store was made by an earlier version, which published no views",
			"run kproxy setup, which keeps what is there")
	}
	return nil
}

func (c *checker) checkStandIns() error {
	var own, of []catalog.Name
	for _, s := range catalog.StandIns() {
		own, of = append(own, s.Name()), append(of, s.Of)
	}
	ownSchemas, ownRelations := split(own)
	ofSchemas, ofRelations := split(of)
	rows, err := collect[nameRow](c.ctx, c.conn, "standins", ownSchemas, ownRelations, ofSchemas, ofRelations, c.reader)
	if err != nil {
		return err
	}
	for i, s := range rows {
		if i == listedStandIns {
			c.report.add(Error, "stand-in", none, fmt.Sprintf("%d other stand-ins are missing, out of date or not readable", len(rows)-i), "run kproxy setup")
			break
		}
		c.report.add(Error, "stand-in", none, s.Name+" is missing, out of date or not readable", "run kproxy setup")
	}
	return nil
}

// listedStandIns bounds the stand-ins that a check names: before an upgrade, all of them are dropped.
const listedStandIns = 5

type publishedRow struct {
	Schema   string
	Relation string
}

// checkPublished requires that the reader can read what is published: another reader may have
// been configured since.
func (c *checker) checkPublished() error {
	published, err := generations(c.ctx, c.conn)
	if err != nil {
		return err
	}
	var names []catalog.Name
	for _, g := range published {
		name := catalog.Name{Schema: g.TableSchema, Relation: g.TableName}
		if !g.Halted && (c.in.audience == "" || slices.Contains(c.in.seen(), name)) {
			names = append(names, catalog.PublishedFor(c.in.audience, name))
		}
	}
	schemas, relations := split(names)
	rows, err := collect[publishedRow](c.ctx, c.conn, "published", schemas, relations, c.reader)
	if err != nil {
		return err
	}
	for _, row := range rows {
		name := catalog.Name{Schema: row.Schema, Relation: row.Relation}
		c.report.add(Error, "published-grant", name, fmt.Sprintf("is published, but role %s may not read it", c.in.Reader),
			"GRANT SELECT ON TABLE "+name.SQL()+" TO "+catalog.QuoteIdentifier(c.in.Reader))
	}
	return nil
}
