package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
)

// IsParquet tells by its name whether a file is one in Parquet's format.
func IsParquet(path string) bool { return strings.EqualFold(filepath.Ext(path), ".parquet") }

// typesOfKinds are the SQL types that values of a kind are read as.
var typesOfKinds = map[parquetfile.Kind]string{
	parquetfile.Text: "text", parquetfile.UUID: "text", parquetfile.Time: "text", parquetfile.Bytes: "text",
	parquetfile.Boolean: "boolean",
	parquetfile.Int16:   "integer", parquetfile.Int32: "integer", parquetfile.Int64: "bigint",
	parquetfile.Decimal: "numeric", parquetfile.Float32: "numeric", parquetfile.Float64: "numeric",
	parquetfile.Date: "date", parquetfile.Timestamp: "timestamp", parquetfile.TimestampTZ: "timestamptz",
}

// parseParquet reads a Parquet file. Names and types of columns are the file's. A value that is
// NULL or an empty text is missing.
func (f *File) parseParquet(ctx context.Context, file *os.File, told func(records int)) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	reader, err := parquetfile.NewReader(file, info.Size())
	if err != nil {
		return err
	}
	f.unreadable = make(map[string]string)
	for _, c := range reader.Columns() {
		name, known := typesOfKinds[c.Kind]
		if !known || c.Range {
			f.unreadable[c.Name], name = c.String(), "text"
		}
		f.Columns, f.declared = append(f.Columns, c.Name), append(f.declared, name)
	}
	for i, name := range f.Columns {
		if name == "" || slices.Index(f.Columns, name) < i {
			return fmt.Errorf("column %d has no name, or that of another one", i+1)
		}
	}
	f.makeFields()
	record, number := make([]string, len(f.Columns)), 0
	for row, err := range reader.Rows() {
		if err != nil {
			return err
		}
		number++
		for i, value := range row {
			record[i] = value.Text // "" for NULL
			if what, _ := unstorable(value.Text); what != "" {
				return fmt.Errorf("row %d, column %s %s", number, f.Columns[i], what)
			}
		}
		if err := f.add(record, number); err != nil {
			return err
		}
		if number%toldRecords == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if told != nil {
				told(number)
			}
		}
	}
	return f.checkRecords()
}
