package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// The library makes room for as much as lengths and counts in a file say, before it looks at what is there. So they are
// checked first: a small file that is damaged, or made for it, shall not take gigabytes.

// The most that a page may have: programs write pages of some megabytes, and few of them whole row groups.
const (
	maxPageBytes  = 1 << 30
	maxPageValues = 1 << 26
)

// maxHeader bounds the header of a page, which can have its least and greatest value in it.
const maxHeader = 16 << 20

var (
	errDamaged = errors.New("the file is damaged")
	errShort   = errors.New("something ends too early")
	// errLZ4: parquet-go 0.32.0 loses pages that it has unpacked with LZ4 into a larger buffer (Column.decompress), and gives what
	// was in the smaller one before; of damaged ones, it makes ever larger buffers.
	errLZ4 = errors.New("it is compressed with LZ4, which is not read: write the file with zstd, snappy, gzip, brotli, or uncompressed")
)

// checkFooter checks the lengths and counts in the footer of a file of the size.
func checkFooter(r io.ReaderAt, size int64) error {
	const magic, trailer = "PAR1", 8
	end := make([]byte, trailer)
	if size < int64(len(magic)+trailer) {
		return errors.New("the file is too short to be a Parquet file")
	}
	if _, err := r.ReadAt(end, size-trailer); err != nil {
		return err
	}
	switch string(end[4:]) {
	case magic:
	case "PARE":
		return errors.New("the file is encrypted")
	default:
		return errors.New("the file does not end as a Parquet file does")
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > size-int64(len(magic)+trailer) {
		return errDamaged
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-trailer-length); err != nil {
		return err
	}
	if err := (&compact{text: footer}).skip(compactStruct, 0); err != nil {
		return fmt.Errorf("%w: its footer: %w", errDamaged, err)
	}
	return nil
}

// checkPages checks the headers of all pages.
func checkPages(r io.ReaderAt, size int64, metadata *format.FileMetaData) error {
	for g := range metadata.RowGroups {
		for c := range metadata.RowGroups[g].Columns {
			if err := checkChunk(r, size, &metadata.RowGroups[g].Columns[c].MetaData); err != nil {
				if !errors.Is(err, errLZ4) {
					err = fmt.Errorf("%w: %w", errDamaged, err)
				}
				return fmt.Errorf("column %d of row group %d: %w", c+1, g+1, err)
			}
		}
	}
	return nil
}

func checkChunk(r io.ReaderAt, size int64, chunk *format.ColumnMetaData) error {
	if chunk.Codec == format.Lz4Raw {
		return errLZ4
	}
	at := chunk.DataPageOffset
	if chunk.DictionaryPageOffset > 0 {
		at = min(at, chunk.DictionaryPageOffset)
	}
	if at < 0 || chunk.TotalCompressedSize < 0 || at > size || chunk.TotalCompressedSize > size-at {
		return errors.New("it lies beyond the file")
	}
	end := at + chunk.TotalCompressedSize
	for values := int64(0); at < end && values < chunk.NumValues; {
		page, err := readPageHeader(r, at, end)
		if err != nil {
			return err
		}
		if page.values < 0 || page.values > maxPageValues || page.uncompressed < 0 || page.uncompressed > maxPageBytes {
			return fmt.Errorf("a page of %d values in %d bytes: at most %d in %d are read", page.values, page.uncompressed, maxPageValues, maxPageBytes)
		}
		at += page.length
		if page.compressed < 0 || page.compressed > end-at {
			return errShort
		}
		at += page.compressed
		if !page.dictionary {
			values += page.values
		}
	}
	return nil
}

// pageHeader is what counts of a page's header; length is its own.
type pageHeader struct {
	length, compressed, uncompressed, values int64
	dictionary                               bool
}

func readPageHeader(r io.ReaderAt, at, end int64) (page pageHeader, err error) {
	for length := int64(1 << 10); ; length *= 8 {
		text := make([]byte, min(length, end-at))
		if _, err := r.ReadAt(text, at); err != nil {
			return page, err
		}
		of := &compact{text: text}
		page = pageHeader{}
		err := page.read(of)
		page.length = int64(of.at)
		if err == nil || !errors.Is(err, errShort) || length >= end-at || length > maxHeader {
			return page, err
		}
	}
}

// read reads a PageHeader (parquet.thrift).
func (p *pageHeader) read(of *compact) error {
	values := func(id int64, kind byte) error {
		if id == 1 {
			return of.int(&p.values)
		}
		return of.skip(kind, 2)
	}
	return of.fields(func(id int64, kind byte) error {
		switch {
		case id == 2 && kind == compactI32:
			return of.int(&p.uncompressed)
		case id == 3 && kind == compactI32:
			return of.int(&p.compressed)
		case (id == 5 || id == 7 || id == 8) && kind == compactStruct:
			p.dictionary = p.dictionary || id == 7
			return of.fields(values)
		}
		return of.skip(kind, 1)
	})
}

// compact reads Thrift's compact protocol (thrift-compact-protocol.md), to see that all of it is there.
type compact struct {
	text []byte
	at   int
}

// The kinds of values that are told apart; what else there is are numbers.
const (
	compactTrue, compactFalse, compactByte = 1, 2, 3
	compactI32                             = 5
	compactDouble, compactBinary           = 7, 8
	compactList, compactSet, compactMap    = 9, 10, 11
	compactStruct, compactUUID             = 12, 13
)

// maxDepth bounds how deep values lie in each other; those of Parquet lie less deep.
const maxDepth = 64

func (c *compact) byte() (byte, error) {
	if c.at >= len(c.text) {
		return 0, errShort
	}
	c.at++
	return c.text[c.at-1], nil
}

func (c *compact) uvarint() (uint64, error) {
	n, length := binary.Uvarint(c.text[c.at:])
	if length == 0 {
		return 0, errShort
	}
	if length < 0 {
		return 0, errors.New("a number is too long")
	}
	c.at += length
	return n, nil
}

// int reads a number with a sign.
func (c *compact) int(to *int64) error {
	n, err := c.uvarint()
	*to = int64(n>>1) ^ -int64(n&1)
	return err
}

// count reads how many things follow, each of which takes at least a byte.
func (c *compact) count() (int, error) {
	n, err := c.uvarint()
	if err == nil && n > uint64(len(c.text)-c.at) {
		err = errShort
	}
	return int(n), err
}

// fields calls read for each field of a struct.
func (c *compact) fields(read func(id int64, kind byte) error) error {
	for id := int64(0); ; {
		head, err := c.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else if err := c.int(&id); err != nil {
			return err
		}
		if err := read(id, head&0xf); err != nil {
			return err
		}
	}
}

// skip passes over a field's value.
func (c *compact) skip(kind byte, depth int) error {
	if depth > maxDepth {
		return errors.New("values lie too deep in each other")
	}
	skipped := func(length int) error {
		if length > len(c.text)-c.at {
			return errShort
		}
		c.at += length
		return nil
	}
	switch kind {
	case compactTrue, compactFalse:
		return nil
	case compactByte:
		return skipped(1)
	case compactDouble:
		return skipped(8)
	case compactUUID:
		return skipped(16)
	case compactBinary:
		n, err := c.count()
		if err != nil {
			return err
		}
		return skipped(n)
	case compactStruct:
		return c.fields(func(_ int64, kind byte) error { return c.skip(kind, depth+1) })
	case compactList, compactSet:
		head, err := c.byte()
		n := int(head >> 4)
		if err == nil && n == 15 {
			n, err = c.count()
		}
		if err != nil {
			return err
		}
		return c.skipElements(n, depth, head&0xf)
	case compactMap:
		n, err := c.count()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := c.byte()
		if err != nil {
			return err
		}
		return c.skipElements(n, depth, kinds>>4, kinds&0xf)
	}
	_, err := c.uvarint()
	return err
}

// skipElements passes over n elements of each of the kinds. A truth value takes a byte there.
func (c *compact) skipElements(n, depth int, kinds ...byte) error {
	for range n {
		for _, kind := range kinds {
			if kind == compactTrue || kind == compactFalse {
				kind = compactByte
			}
			if err := c.skip(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
