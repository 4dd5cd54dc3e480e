package demo

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// csvSource is somebody's own CSV file.
type csvSource struct {
	*dataset.File
	policy *config.PolicyFile
}

// newCSVSource reads a file and sees whether its policy fits; warnings say what
// is odd about the two.
func newCSVSource(path string, policy *config.PolicyFile) (s *csvSource, warnings []string, err error) {
	file, err := dataset.Read(path, policy.CSV)
	if err != nil {
		return nil, nil, err
	}
	table, err := file.Anonymizable(policy, "")
	if err != nil {
		return nil, nil, err
	}
	return &csvSource{file, policy}, table.Warnings(), nil
}

func (s *csvSource) configure(c *config.Config) error {
	c.Policy = s.policy.Policy()
	c.Database = s.policy.Table.Table.Relation
	c.Upstream.Owner.Database, c.Upstream.Reader.Database = c.Database, c.Database
	return nil
}

func (s *csvSource) load(ctx context.Context, conn *pgx.Conn) error {
	table := s.policy.Table.Table
	definitions := []string{catalog.QuoteIdentifier(s.policy.CSV.Key) + " bigint PRIMARY KEY"}
	for i, name := range s.Columns {
		definitions = append(definitions, catalog.QuoteIdentifier(name)+" "+s.Types[i])
	}
	create := fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %s; CREATE TABLE %s (%s)",
		catalog.QuoteIdentifier(table.Schema), table.SQL(), strings.Join(definitions, ", "))
	if _, err := conn.Exec(ctx, create); err != nil {
		return fmt.Errorf("creating table %s: %w", table, err)
	}
	stream, feed := io.Pipe()
	go func() { feed.CloseWithError(s.write(feed)) }()
	copyIn := fmt.Sprintf("COPY %s FROM STDIN (FORMAT csv)", table.SQL())
	if _, err := conn.PgConn().CopyFrom(ctx, stream, copyIn); err != nil {
		return fmt.Errorf("loading table %s: %w", table, err)
	}
	if _, err := conn.Exec(ctx, "ANALYZE "+table.SQL()); err != nil {
		return fmt.Errorf("analyzing table %s: %w", table, err)
	}
	return nil
}

// write numbers the records from 1.
func (s *csvSource) write(to io.Writer) error {
	w := csv.NewWriter(to)
	row := make([]string, 0, len(s.Columns)+1)
	for i := range s.Len() {
		row = append(row[:0], strconv.Itoa(i+1))
		for column := range s.Columns {
			row = append(row, s.Field(i, column))
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func (s *csvSource) queries(bool) (analyst, owner []string) {
	table := s.policy.Table
	relation := catalog.QuoteIdentifier(table.Table.Relation)
	if table.Table.Schema != "public" {
		relation = table.Table.SQL()
	}
	analyst = []string{`\d ` + relation, fmt.Sprintf("SELECT * FROM %s LIMIT 10;", relation), fmt.Sprintf("SELECT count(*) FROM %s;", relation)}
	owner = []string{fmt.Sprintf("DELETE FROM %s WHERE %s %% 10 = 0;", table.Table.SQL(), catalog.QuoteIdentifier(s.policy.CSV.Key))}
	return analyst, owner
}
