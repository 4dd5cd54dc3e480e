package tablefile

import (
	"bufio"
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
	// Rows yields the rows. An error is the last. A row is valid until the next one.
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
	from := &csvReader{from: bufio.NewReaderSize(r.file, 1<<20)}
	header, err := from.read(nil)
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	for _, name := range header {
		r.Columns = append(r.Columns, name.Text)
	}
	r.Rows = func(yield func([]parquetfile.Value, error) bool) {
		row := make([]parquetfile.Value, 0, len(r.Columns))
		for {
			var err error
			if row, err = from.read(row); errors.Is(err, io.EOF) {
				return
			}
			if err == nil && len(row) != len(r.Columns) {
				err = fmt.Errorf("a row has %d fields, and there are %d columns", len(row), len(r.Columns))
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
	return nil
}
