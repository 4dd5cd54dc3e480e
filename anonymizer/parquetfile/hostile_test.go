package parquetfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
)

// TestAbsurdLengths puts great numbers in place of the bytes of a file: wherever a length or a count stands, it is refused
// before there is room made for it. It is not parallel, since it looks at what all tests take.
func TestAbsurdLengths(t *testing.T) {
	file := written(t, columns, rows)
	footer := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	numbers := [][]byte{
		{0xfe, 0xff, 0xff, 0xff, 0x0f},                               // the greatest of 32 bits
		{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, // of 64 bits
		{0x80, 0x80, 0x80, 0x80, 0x02},                               // the greatest length that the library takes, and more than a page has
	}
	refused := 0
	for turn, number := range numbers {
		for at := 4 + turn; at < len(file)-8; at += 5 {
			damaged := slices.Concat(file[:at], number, file[at+1:])
			if at >= len(file)-8-footer {
				binary.LittleEndian.PutUint32(damaged[len(damaged)-8:], uint32(footer+len(number)-1))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readAll(damaged)
			runtime.ReadMemStats(&after)
			if err != nil {
				refused++
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 32<<20 {
				t.Errorf("%x at %d: reading a file of %d bytes takes %d MB: %v", number, at, len(damaged), taken>>20, err)
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d files are refused", refused)
	}
}

// readAll reads up to a hundred thousand rows of a file.
func readAll(file []byte) error {
	r, err := parquetfile.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	n := 0
	for _, err := range r.Rows() {
		if err != nil {
			return err
		}
		if n++; n > 100_000 {
			break
		}
	}
	return nil
}

// TestCompressions reads files of all compressions but LZ4, which is refused.
func TestCompressions(t *testing.T) {
	t.Parallel()
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli, &parquet.Lz4Raw} {
		var file bytes.Buffer
		w := parquet.NewGenericWriter[struct{ Name string }](&file, parquet.Compression(codec), parquet.MaxRowsPerRowGroup(700))
		for i := range 2000 {
			if _, err := w.Write([]struct{ Name string }{{fmt.Sprint("name ", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := parquetfile.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if codec == compress.Codec(&parquet.Lz4Raw) {
			if err == nil || !strings.Contains(err.Error(), "compressed with LZ4, which is not read") {
				t.Errorf("LZ4: error %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(codec, err)
		}
		n := 0
		for row, err := range r.Rows() {
			if err != nil || row[0].Text != fmt.Sprint("name ", n) {
				t.Fatalf("%v: row %d is %v, %v", codec, n, row, err)
			}
			n++
		}
		if n != 2000 {
			t.Errorf("%v: %d rows", codec, n)
		}
	}
}

// TestNoParquet says what is wrong with files that are not read at all.
func TestNoParquet(t *testing.T) {
	t.Parallel()
	file := written(t, columns, rows)
	for want, text := range map[string][]byte{
		"too short":                      []byte("PAR1PAR1"),
		"does not end as a Parquet file": file[:len(file)-1],
		"is encrypted":                   append(slices.Clone(file[:len(file)-4]), "PARE"...),
		"is damaged":                     append(slices.Clone(file[:len(file)-8]), "\xff\xff\xff\x7fPAR1"...),
		"is damaged: its footer":         []byte("PAR1\x18\xff\xff\xff\xff\x07\x06\x00\x00\x00PAR1"),
		"column 1 of row group 1: the file is damaged": slices.Concat(file[:4], bytes.Repeat([]byte{0x15}, 40), file[44:]),
	} {
		if err := readAll(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestEmptyRowGroup reads a file as pyarrow writes it of no rows: with a row group that has none.
func TestEmptyRowGroup(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/empty-row-group.parquet")
	if err != nil {
		t.Fatal(err)
	}
	r, err := parquetfile.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(r.Columns()) != 2 {
		t.Fatalf("opening it: %v", err)
	}
	for _, err := range r.Rows() {
		t.Errorf("there is a row: %v", err)
	}
}
