// Package journal keeps the results of long work in a file as they come, so that work which
// was interrupted, even killed, goes on where it stopped.
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Journal is a file with a line of JSON for each result, under a line with the digest of what
// they were made of. It is locked while it is open. It is used by one goroutine.
type Journal struct {
	file  *os.File
	kept  map[string]json.RawMessage
	found int
	other bool
}

// header is the first line of the file.
type header struct {
	Digest string `json:"digest"`
}

// entry is each further line.
type entry struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// ErrInUse says that another process has the journal open.
var ErrInUse = errors.New("another run writes into it")

// ErrForeign says that a file is no journal, and is left alone.
var ErrForeign = errors.New("the file is not of an earlier run: move it away")

// Open opens the journal in the file of the path, or makes it. Results of another digest are
// dropped, and a last line that was not written to its end, too. The error is ErrInUse,
// ErrForeign, or the file system's.
func Open(path, digest string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening what an earlier run has kept: %w", err)
	}
	j := &Journal{file: file, kept: make(map[string]json.RawMessage)}
	if err := j.begin(digest); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return j, nil
}

func (j *Journal) begin(digest string) error {
	switch err := syscall.Flock(int(j.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrInUse
	case err != nil:
		return os.NewSyscallError("flock", err)
	}
	text, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	if begins := []byte(`{"digest":`); len(text) > 0 && !bytes.HasPrefix(text, begins) && !bytes.HasPrefix(begins, text) {
		return ErrForeign
	}
	whole := j.read(text, digest)
	if err := j.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := j.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	j.found = len(j.kept)
	if whole == 0 {
		return j.write(header{digest})
	}
	return nil
}

// read takes over the results of a text, and returns how many of its bytes are good: 0 where
// the digest is another one.
func (j *Journal) read(text []byte, digest string) int {
	whole := 0
	for {
		line, _, ended := bytes.Cut(text[whole:], []byte("\n"))
		if !ended {
			return whole
		}
		if whole == 0 {
			var h header
			if err := json.Unmarshal(line, &h); err != nil || h.Digest != digest {
				j.other = true
				return 0
			}
		} else {
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				return whole
			}
			j.kept[e.Key] = e.Value
		}
		whole += len(line) + 1
	}
}

func (j *Journal) write(line any) error {
	text, err := json.Marshal(line)
	if err == nil {
		_, err = j.file.Write(append(text, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	return err
}

// Found is how many results an earlier run has left.
func (j *Journal) Found() int { return j.found }

// Other tells whether the file was of another digest, so that the work starts afresh.
func (j *Journal) Other() bool { return j.other }

// Get fills in the result of the key and tells whether there is one.
func (j *Journal) Get(key string, result any) (bool, error) {
	text, found := j.kept[key]
	if !found {
		return false, nil
	}
	if err := json.Unmarshal(text, result); err != nil {
		return false, fmt.Errorf("reading what an earlier run has kept: %w", err)
	}
	return true, nil
}

// Put writes the result of the key to the disk.
func (j *Journal) Put(key string, result any) error {
	text, err := json.Marshal(result)
	if err == nil {
		err = j.write(entry{key, text})
	}
	if err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	j.kept[key] = text
	return nil
}

// Close unlocks the file, which stays.
func (j *Journal) Close() error { return j.file.Close() }

// Digest gathers what results depend on.
type Digest struct{ parts [][]byte }

// Add adds a part of the inputs.
func (d *Digest) Add(part []byte) {
	sum := sha256.Sum256(part)
	d.parts = append(d.parts, sum[:])
}

// AddFile adds what a file holds.
func (d *Digest) AddFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading %s for its digest: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return fmt.Errorf("reading %s for its digest: %w", path, err)
	}
	d.parts = append(d.parts, hash.Sum(nil))
	return nil
}

// AddProgram adds the running program, another version of which may measure other things.
func (d *Digest) AddProgram() error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("looking for the program: %w", err)
	}
	return d.AddFile(path)
}

// String is the digest of all parts in their order, in hexadecimal digits.
func (d *Digest) String() string {
	sum := sha256.Sum256(bytes.Join(d.parts, nil))
	return hex.EncodeToString(sum[:])
}
