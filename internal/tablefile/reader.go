package tablefile

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
)

// Reader reads a file that a Writer has written.
type Reader struct {
	// Columns are the names of the columns.
	Columns []string
	// Rows yields the rows. An error is the last. Of CSV, empty texts are NULL. A row is valid until
	// the next one.
	Rows iter.Seq2[[]parquetfile.Value, error]

	file *os.File
}

// Open opens the file at the path. The caller closes the reader.
func Open(format Format, path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file}
	open := r.openCSV
	if format == Parquet {
		open = r.openParquet
	}
	if err := open(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

func (r *Reader) openParquet() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	of, err := parquetfile.NewReader(r.file, info.Size())
	if err != nil {
		return err
	}
	for _, c := range of.Columns() {
		r.Columns = append(r.Columns, c.Name)
	}
	r.Rows = of.Rows()
	return nil
}

func (r *Reader) openCSV() error {
	from := csv.NewReader(bufio.NewReaderSize(r.file, 1<<20))
	from.ReuseRecord = true
	header, err := from.Read()
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	r.Columns = append(r.Columns, header...)
	r.Rows = func(yield func([]parquetfile.Value, error) bool) {
		row := make([]parquetfile.Value, len(r.Columns))
		for {
			record, err := from.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i, field := range record {
				row[i] = parquetfile.Value{Text: field, Null: field == ""}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
	return nil
}
