package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// scans compares reading the whole table, as rows and as a copy.
func scans(ctx context.Context, b *bench) error {
	var t table
	t.add("statement", "way", "seconds", "MB/s", "of direct's rate", "of pgbouncer's", "proxy's CPU s")
	for _, statement := range []struct{ name, protected, published string }{
		{"SELECT", b.site.scan, b.site.scanPublished},
		{"COPY", b.site.copyOut, b.site.copyPublished},
	} {
		rates, spent, processors := map[*way][]float64{}, map[*way][]float64{}, map[*way][]float64{}
		err := b.rounds(ctx, b.ways, func(w *way) error {
			sql := statement.published
			if w.protected {
				sql = statement.protected
			}
			var p passage
			if err := b.quietly(func() (err error) {
				p, err = pass(ctx, w, sql)
				return err
			}); err != nil {
				return err
			}
			rates[w] = append(rates[w], float64(p.bytes)/1e6/p.seconds)
			spent[w] = append(spent[w], p.seconds)
			processors[w] = append(processors[w], p.processor)
			return nil
		})
		if err != nil {
			return err
		}
		parameters := map[string]string{"statement": statement.name, "records": strconv.FormatInt(b.site.published, 10)}
		for _, w := range b.ways {
			b.note("scan-time", w, parameters, "s", spent[w])
			b.noteCPU("scan-cpu", w, parameters, "s", processors[w])
			t.add(statement.name, w.name, fmt.Sprintf("%.2f", median(spent[w])), fmt.Sprintf("%.0f", median(rates[w])),
				compare(rates[w], rates[b.named(direct)]).String(), compare(rates[w], rates[b.named(peer)]).String(),
				fmt.Sprintf("%.2f", median(processors[w])))
		}
	}
	fmt.Fprintf(b.out, "Reading %d records, %d rounds:\n\n", b.site.published, b.options.rounds)
	t.write(b.out)
	return nil
}

// passage is one reading of a table.
type passage struct {
	bytes     int64
	seconds   float64
	processor float64 // seconds of the proxy
}

// pass runs a statement and reads the answer without looking into its rows, so that the
// client is not what is measured.
func pass(ctx context.Context, w *way, sql string) (p passage, err error) {
	conn, err := w.connect(ctx)
	if err != nil {
		return p, err
	}
	if err := conn.PgConn().SyncConn(ctx); err != nil { // its background reader would take what comes next
		return p, errors.Join(err, conn.Close(ctx))
	}
	raw, err := conn.PgConn().Hijack()
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, raw.Conn.Close()) }()
	before := w.processor()
	begin := time.Now()
	query := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(4+len(sql)+1))
	if _, err := raw.Conn.Write(append(append(query, sql...), 0)); err != nil {
		return p, err
	}
	if p.bytes, err = drain(raw.Conn); err != nil {
		return p, err
	}
	p.seconds = time.Since(begin).Seconds()
	p.processor = w.processor() - before
	_, err = raw.Conn.Write([]byte{'X', 0, 0, 0, 4})
	return p, err
}

// drain reads messages up to ReadyForQuery and returns how many bytes they had.
func drain(conn net.Conn) (int64, error) {
	const (
		header    = 5 // type and length
		errorCode = 'E'
		ready     = 'Z'
	)
	buffer := make([]byte, 256<<10)
	var bytes int64
	held, skip := 0, 0 // bytes at the buffer's beginning; of a message begun before
	for {
		n, err := conn.Read(buffer[held:])
		bytes += int64(n)
		if err != nil {
			return bytes, errors.Join(err, io.ErrUnexpectedEOF)
		}
		end := held + n
		at := min(skip, end)
		skip -= at
		for skip == 0 && end-at >= header {
			length := 1 + int(binary.BigEndian.Uint32(buffer[at+1:]))
			switch buffer[at] {
			case errorCode:
				return bytes, fmt.Errorf("the server refused: %q", buffer[at+header:min(at+length, end)])
			case ready:
				return bytes, nil
			}
			step := min(length, end-at)
			at, skip = at+step, length-step
		}
		held = copy(buffer, buffer[at:end])
	}
}
