package audit

import (
	"bytes"
	"fmt"
	"time"
)

// run writes until Close.
func (l *Log) run() {
	defer close(l.done)
	ticker := time.NewTicker(min(syncEvery, l.options.Pause))
	defer ticker.Stop()
	for {
		select {
		case <-l.work:
		case <-ticker.C:
		}
		for l.turn() {
		}
		if l.over() {
			_ = l.file.Close()
			return
		}
	}
}

// turn writes a batch, and tells whether there may be another one at once.
func (l *Log) turn() bool {
	l.mu.Lock()
	reopen, ending := l.reopen, l.ending
	l.mu.Unlock()
	if reopen {
		if err := l.exchange(); err != nil {
			l.failed(err)
			return false
		}
	}
	l.take()
	if err := l.write(); err != nil {
		l.failed(err)
		if l.options.OnFailure == Drop {
			l.lose()
		}
		return false
	}
	if l.dirty && (ending || time.Since(l.synced) >= syncEvery) {
		if err := l.sync(); err != nil {
			l.failed(err)
			return false
		}
	}
	return l.succeeded()
}

// sync brings what is written to the disk. Where that fails, the system may have given up
// what it could not write, and say of the same file that all is well the next time (fsync
// on Linux): it is opened again, and what may be missing is told.
func (l *Log) sync() error {
	err := l.file.Sync()
	if err == nil {
		l.dirty, l.ahead, l.synced = false, 0, time.Now()
		return nil
	}
	l.doubt(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reopen = true
	return fmt.Errorf("bringing the audit log to the disk: %w", err)
}

// doubt tells what may be missing when a file could not be brought to the disk.
func (l *Log) doubt(err error) {
	if l.ahead == 0 {
		return
	}
	l.options.Logger.Error("records may be missing from the audit log: they could not be brought to the disk", "records", l.ahead, "error", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Unsure += uint64(l.ahead)
	l.ahead = 0
}

// take makes a batch of what waits, if the last one is written.
func (l *Log) take() {
	if l.lines > 0 || l.offset < len(l.batch) {
		return
	}
	l.mu.Lock()
	records := l.queue
	l.queue = l.spare
	l.mu.Unlock()
	l.batch, l.offset, l.lines = l.batch[:0], 0, len(records)
	for i := range records {
		l.batch = records[i].append(l.batch)
	}
	clear(records)
	if l.spare = records[:0]; cap(records) > l.options.Queue {
		l.spare = nil // of a flood
	}
}

// write writes what is left of the batch.
func (l *Log) write() error {
	for l.offset < len(l.batch) {
		n, err := l.file.Write(l.batch[l.offset:])
		n = max(n, 0)
		l.ahead += bytes.Count(l.batch[l.offset:l.offset+n], []byte{'\n'})
		l.offset += n
		l.dirty = l.dirty || n > 0
		if err != nil {
			return fmt.Errorf("writing the audit log: %w", err)
		}
	}
	return nil
}

// exchange opens the file by its name. A line that was begun is ended where nobody has
// moved the file, and else written to the new one from its beginning.
func (l *Log) exchange() error {
	next, err := l.options.Open()
	if err != nil {
		return err
	}
	// Whether the former one is on its disk does not keep anybody from the next.
	if err := l.file.Sync(); err != nil {
		l.doubt(err)
	}
	l.ahead = 0
	if !isSame(l.file, next) {
		l.offset = bytes.LastIndexByte(l.batch[:l.offset], '\n') + 1
	}
	_ = l.file.Close()
	l.file = next
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reopen = false
	return nil
}

// failed takes note of an error.
func (l *Log) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Failures++
	if !l.blocked {
		message := "the audit log cannot be written: statements are refused"
		if l.options.OnFailure == Drop {
			message = "the audit log cannot be written: records are lost"
		}
		l.options.Logger.Error(message, "error", err)
	}
	l.blocked = true
	l.gate()
}

// lose gives up the batch.
func (l *Log) lose() {
	if l.lines == 0 {
		return // what is left ends a line that is lost already
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := bytes.Count(l.batch[l.offset:], []byte{'\n'})
	l.stats.Dropped += uint64(lost)
	l.stats.Written += uint64(l.lines - lost)
	if l.offset > 0 && l.batch[l.offset-1] != '\n' {
		// The line that was begun is ended, so that the next one stands alone.
		l.batch, l.offset, l.lines = append(l.batch[:0], '\n'), 0, 0
		return
	}
	l.batch, l.offset, l.lines = l.batch[:0], 0, 0
}

// succeeded takes note that the batch is written, and tells whether more waits.
func (l *Log) succeeded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Written += uint64(l.lines)
	l.lines = 0
	if l.blocked {
		l.options.Logger.Info("the audit log can be written again", "lost", l.stats.Dropped)
		l.blocked = false
	}
	l.gate()
	return len(l.queue) > 0
}

// over tells whether all is written after Close.
func (l *Log) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending && len(l.queue) == 0 && l.lines == 0 && l.offset == len(l.batch) && !l.dirty
}
