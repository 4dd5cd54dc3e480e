package demo

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
)

// csvSource is somebody's own CSV file, read whole.
type csvSource struct {
	policy  *config.PolicyFile
	columns []string
	types   []string
	records [][]string // "" is a missing value
	dropped int
}

func newCSVSource(path string, policy *config.PolicyFile) (*csvSource, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the data: %w", err)
	}
	s := &csvSource{policy: policy}
	if err := s.parse(text); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return s, s.checkColumns()
}

func (s *csvSource) parse(text []byte) error {
	form := s.policy.CSV
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	reader.Comma = form.Delimiter
	reader.TrimLeadingSpace = form.TrimSpaces
	s.columns = form.Columns
	if form.Header {
		header, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return errors.New("the file is empty")
		}
		if err != nil {
			return err
		}
		if len(s.columns) == 0 {
			s.columns = header
		}
	}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(record) != len(s.columns) {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("line %d has %d fields, but there are %d columns", line, len(record), len(s.columns))
		}
		s.add(record)
	}
	s.types = make([]string, len(s.columns))
	for i, name := range s.columns {
		if s.types[i] = form.Types[name]; s.types[i] == "" {
			s.types[i] = s.inferType(i)
		}
	}
	return nil
}

// add keeps a record, unless it is to be dropped as incomplete.
func (s *csvSource) add(record []string) {
	form := s.policy.CSV
	missing := false
	for i, field := range record {
		if form.TrimSpaces {
			field = strings.TrimSpace(field)
		}
		if form.Missing != "" && field == form.Missing {
			field = ""
		}
		record[i] = field
		missing = missing || field == ""
	}
	if missing && form.DropIncomplete {
		s.dropped++
		return
	}
	s.records = append(s.records, record)
}

// inferType is the narrowest type that all values of a column fit. A number
// with a leading zero is a code, such as a postcode, and stays a text.
func (s *csvSource) inferType(column int) string {
	candidates := []struct {
		name string
		fits func(string) bool
	}{
		{"bigint", func(v string) bool {
			n, err := strconv.ParseInt(v, 10, 64)
			return err == nil && strconv.FormatInt(n, 10) == v
		}},
		{"numeric", isPlainNumber},
		{"date", isDate},
	}
	for _, c := range candidates {
		values := 0
		if !slices.ContainsFunc(s.records, func(r []string) bool {
			if r[column] == "" {
				return false
			}
			values++
			return !c.fits(r[column])
		}) && values > 0 {
			return c.name
		}
	}
	return "text"
}

func isPlainNumber(v string) bool {
	digits := strings.TrimPrefix(v, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return false
	}
	return whole == "0" || whole[0] != '0'
}

func isDate(v string) bool {
	parts := strings.Split(v, "-")
	if len(parts) != 3 || len(parts[0]) != 4 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return false
	}
	return strings.Trim(parts[0]+parts[1]+parts[2], "0123456789") == ""
}

// checkColumns reports every column of the policy that the file does not have.
func (s *csvSource) checkColumns() error {
	var mistakes []error
	table := s.policy.Table
	for _, c := range table.Columns {
		if c.Name != s.policy.CSV.Key && !slices.Contains(s.columns, c.Name) {
			mistakes = append(mistakes, fmt.Errorf("%s: the file has no column %q; it has %s",
				s.policy.Locate(table.Table, c.Name), c.Name, strings.Join(s.columns, ", ")))
		}
	}
	if slices.Contains(s.columns, s.policy.CSV.Key) {
		mistakes = append(mistakes, fmt.Errorf("the file has a column %q of its own; set another name for csv.key", s.policy.CSV.Key))
	}
	return errors.Join(mistakes...)
}

func (s *csvSource) configure(c *config.Config) {
	c.Policy = s.policy.Policy()
	c.Database = s.policy.Table.Table.Relation
	c.Upstream.Owner.Database, c.Upstream.Reader.Database = c.Database, c.Database
}

func (s *csvSource) load(ctx context.Context, conn *pgx.Conn) error {
	table := s.policy.Table.Table
	definitions := []string{catalog.QuoteIdentifier(s.policy.CSV.Key) + " bigint PRIMARY KEY"}
	for i, name := range s.columns {
		definitions = append(definitions, catalog.QuoteIdentifier(name)+" "+s.types[i])
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
	row := make([]string, 0, len(s.columns)+1)
	for i, record := range s.records {
		row = append(append(row[:0], strconv.Itoa(i+1)), record...)
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func (s *csvSource) queries() (analyst, owner []string) {
	table := s.policy.Table
	relation := catalog.QuoteIdentifier(table.Table.Relation)
	if table.Table.Schema != "public" {
		relation = table.Table.SQL()
	}
	analyst = []string{`\d ` + relation, fmt.Sprintf("SELECT * FROM %s LIMIT 10;", relation), fmt.Sprintf("SELECT count(*) FROM %s;", relation)}
	owner = []string{fmt.Sprintf("DELETE FROM %s WHERE %s %% 10 = 0;", table.Table.SQL(), catalog.QuoteIdentifier(s.policy.CSV.Key))}
	return analyst, owner
}
