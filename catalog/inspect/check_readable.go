package inspect

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Codes of the findings about listed names that the reader role may not use.
const (
	CodeReadableGrant = "readable-grant"
	// CodeReadableDirect is about relations that it may read past their stand-ins.
	CodeReadableDirect = "readable-direct"
	// CodeReadableRaw is about relations that show protected rows, and are refused.
	CodeReadableRaw   = "readable-raw"
	CodeFunctionGrant = "function-grant"
	// CodeTemporaryGrant is about temporary tables, which no session can make.
	CodeTemporaryGrant = "temporary-grant"
)

// checkReadable requires every relation that analysts may read to be prepared. Sessions read
// its stand-in, and have only the privilege REFERENCES on the relation itself, which shows
// nothing of it. Views over protected tables are read in another form. While a protected
// table is missing, it is unknown which views those are.
func (c *checker) checkReadable() error {
	if c.incomplete() {
		return nil
	}
	rows, err := c.conn.Query(c.ctx, "SELECT nspname::text FROM pg_namespace WHERE has_schema_privilege($1::oid, oid, 'USAGE')", c.reader)
	if err != nil {
		return fmt.Errorf("asking for the privileges on schemas: %w", err)
	}
	usable, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("asking for the privileges on schemas: %w", err)
	}
	for _, name := range c.in.Policy.Readable {
		relation, exists := c.byName[name]
		if !exists || overProtected(c.views, name) {
			continue
		}
		if !slices.Contains(usable, name.Schema) {
			c.report.add(Error, CodeReadableGrant, name, fmt.Sprintf("role %s may not look into its schema", c.in.Reader),
				"GRANT USAGE ON SCHEMA "+catalog.QuoteIdentifier(name.Schema)+" TO "+catalog.QuoteIdentifier(c.in.Reader))
		}
		if !relation.Marked {
			c.report.add(Error, CodeReadableGrant, name, fmt.Sprintf("the database is not prepared for it: role %s lacks REFERENCES on it, by which the catalogs that clients see know it", c.in.Reader),
				"GRANT REFERENCES ON TABLE "+name.SQL()+" TO "+catalog.QuoteIdentifier(c.in.Reader)+";\nGRANT SELECT ON TABLE "+name.SQL()+" TO "+catalog.QuoteIdentifier(c.in.Owner))
		}
		if relation.ReadableByReader {
			c.report.add(Warning, CodeReadableDirect, name, fmt.Sprintf("role %s may read it past what stands for it, with its system columns, which tell of writes to the tables that refer to it; statements through kproxy cannot, but nothing else keeps them from it", c.in.Reader),
				"REVOKE SELECT ON TABLE "+name.SQL()+" FROM PUBLIC, "+catalog.QuoteIdentifier(c.in.Reader))
		}
	}
	return nil
}

// checkTemporary requires that sessions can make the temporary tables that the configuration allows.
func (c *checker) checkTemporary() error {
	if !c.in.TemporaryTables {
		return nil
	}
	var granted bool
	if err := c.conn.QueryRow(c.ctx, "SELECT has_database_privilege($1::oid, current_database(), 'TEMPORARY')", c.reader).Scan(&granted); err != nil {
		return fmt.Errorf("asking for the privileges on the database: %w", err)
	}
	if !granted {
		c.report.add(Error, CodeTemporaryGrant, none,
			fmt.Sprintf("temporary_tables is allow, but role %s may not make temporary tables in database %s", c.in.Reader, c.conn.Config().Database), "run 'kproxy setup'")
	}
	return nil
}
