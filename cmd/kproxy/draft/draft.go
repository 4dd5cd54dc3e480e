// Package draft reads a table, from a file or from a database, and drafts its
// policy.
package draft

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/dataset"
	"github.com/kproxy/kproxy/propose"
)

// DefaultSample is how many records of a database's table are looked at.
const DefaultSample = 100_000

// Options say what to draft from: Data, or Table in the database of DSN.
type Options struct {
	Data, Delimiter, Missing string
	DSN, Table               string
	Sample                   int // records of a database's table; 0 = all
}

// Draft returns the draft as YAML.
func Draft(ctx context.Context, o Options) (string, error) {
	if o.Data != "" {
		return fromFile(o)
	}
	return fromDatabase(ctx, o)
}

func fromFile(o Options) (string, error) {
	delimiter, size := utf8.DecodeRuneInString(o.Delimiter)
	if o.Delimiter == "tab" {
		delimiter, size = '\t', len(o.Delimiter)
	}
	if size != len(o.Delimiter) || delimiter == utf8.RuneError {
		return "", fmt.Errorf("--delimiter %q is not a single character", o.Delimiter)
	}
	form := config.CSV{Delimiter: delimiter, Header: true, Missing: o.Missing, TrimSpaces: true}
	file, err := dataset.Read(o.Data, form)
	if single := (*dataset.SingleFieldError)(nil); errors.As(err, &single) {
		return "", fmt.Errorf("%s has a single column, %q: the fields seem to be separated otherwise: --delimiter %s", o.Data, single.Header, dataset.DelimiterName(single.Delimiter))
	}
	if err != nil {
		return "", err
	}
	name := o.Table
	if name == "" {
		base := filepath.Base(o.Data)
		name = "public." + strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), ".", "_")
	}
	var columns []propose.Column
	for i, column := range file.Columns {
		c := propose.Column{Name: column, Type: file.Types[i], Note: note(file, i)}
		for _, record := range file.Records {
			c.Values = append(c.Values, record[i])
		}
		columns = append(columns, c)
	}
	return csvSection(o, file.Columns) + "\n" + propose.Propose(catalog.ParseName(name), columns).YAML(), nil
}

// note tells of a column that few fields make a text. They are not quoted: a
// policy is shown around.
func note(file *dataset.File, column int) string {
	name, line, misfits, nearly := file.Nearly(column)
	switch {
	case !nearly:
		return ""
	case misfits == 1:
		return fmt.Sprintf("a text because of line %d alone, else %s: correct that field, or pass --missing", line, name)
	default:
		return fmt.Sprintf("a text because of %d fields alone, the first on line %d, else %s: correct them, or pass --missing", misfits, line, name)
	}
}

func csvSection(o Options, columns []string) string {
	text := "csv:\n"
	if o.Delimiter == "tab" || o.Delimiter == "\t" {
		text += "  delimiter: tab\n"
	} else {
		text += fmt.Sprintf("  delimiter: %q\n", o.Delimiter)
	}
	if o.Missing != "" {
		text += fmt.Sprintf("  missing: %q\n", o.Missing)
	}
	if key := freeKey(columns); key != defaultKey {
		text += fmt.Sprintf("  key: %s\n", key)
	}
	return text + "  trim_spaces: true\n"
}

// defaultKey is what config calls the generated key where a policy does not say.
const defaultKey = "row_number"

// freeKey names the generated key unlike any column.
func freeKey(columns []string) string {
	key := defaultKey
	for slices.Contains(columns, key) {
		key += "_"
	}
	return key
}

func fromDatabase(ctx context.Context, o Options) (string, error) {
	name := catalog.ParseName(o.Table)
	conn, err := pgx.Connect(ctx, o.DSN)
	if err != nil {
		return "", fmt.Errorf("connecting to the database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	relations, err := inspect.Relations(ctx, conn, conn.Config().User)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == name })
	if i < 0 {
		return "", fmt.Errorf("the database has no table %s that role %q can see", name, conn.Config().User)
	}
	columns, err := sample(ctx, conn, relations[i], o.Sample)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return propose.Propose(name, columns).YAML(), nil
}

// sample reads records as text, in the order in which the table gives them.
func sample(ctx context.Context, conn *pgx.Conn, r catalog.Relation, records int) ([]propose.Column, error) {
	if len(r.Columns) == 0 {
		return nil, errors.New("the table has no columns")
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	columns := make([]propose.Column, len(r.Columns))
	selected := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		columns[i] = propose.Column{Name: c.Name, Type: strings.Split(c.BaseFormat, "(")[0], Key: slices.Contains(r.Key, c.Name)}
		selected[i] = fmt.Sprintf("coalesce(%s::text, '')", catalog.QuoteIdentifier(c.Name))
	}
	query := fmt.Sprintf("SELECT %s FROM %s", strings.Join(selected, ", "), r.Name.SQL())
	if records > 0 {
		query += fmt.Sprintf(" LIMIT %d", records)
	}
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		for i, raw := range rows.RawValues() {
			columns[i].Values = append(columns[i].Values, string(raw))
		}
	}
	return columns, rows.Err()
}
