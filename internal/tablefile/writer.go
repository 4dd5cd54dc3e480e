package tablefile

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
)

// Writer writes rows. It keeps at most a row group of Parquet in memory.
type Writer interface {
	// Write writes a row with a value for each column, as texts in PostgreSQL's output form.
	Write(row []parquetfile.Value) error
	// Close ends the file. It does not close what is written to.
	Close() error
}

// NewWriter begins a file of the columns. The error is about columns that a Parquet file cannot have.
func NewWriter(format Format, to io.Writer, columns []Column) (Writer, error) {
	if format == Parquet {
		of := make([]parquetfile.Column, len(columns))
		for i, c := range columns {
			of[i] = c.parquet()
		}
		return parquetfile.NewWriter(to, of)
	}
	w := &csvWriter{to: bufio.NewWriterSize(to, 1<<16), single: len(columns) == 1}
	header := make([]parquetfile.Value, len(columns))
	for i, c := range columns {
		header[i] = parquetfile.Of(c.Name)
	}
	return w, w.Write(header)
}

// csvWriter writes CSV as PostgreSQL's COPY does: NULL is an empty field, and an empty text is
// two quotes.
type csvWriter struct {
	to     *bufio.Writer
	single bool
}

func (w *csvWriter) Write(row []parquetfile.Value) error {
	for i, v := range row {
		if i > 0 {
			_ = w.to.WriteByte(',') // errors stay until Flush
		}
		if v.Null {
			continue
		}
		_, _ = w.to.WriteString(w.field(v.Text))
	}
	if err := w.to.WriteByte('\n'); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

// field quotes what would be read otherwise.
func (w *csvWriter) field(text string) string {
	switch {
	case text == "":
	case strings.ContainsAny(text, "\",\r\n"), text[0] == ' ', text[0] == '\t', w.single && text == `\.`: // which ends a COPY
	default:
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

func (w *csvWriter) Close() error {
	if err := w.to.Flush(); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}
