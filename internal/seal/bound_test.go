package seal

import (
	"bytes"
	"encoding/binary"
	gosync "sync"
	"testing"
)

// TestDerivedKeysAreBounded: no derived key encrypts more blocks than it may, the blocks of two rows under one do not
// overlap, also where many seal at the same time, and all rows open. A row that is longer than the bound has a key of its own.
func TestDerivedKeysAreBounded(t *testing.T) {
	t.Parallel()
	box, columns := NewBox(NewDataKey(), []string{"id"}), []string{"id"}
	box.most = 20
	var lock gosync.Mutex
	var running gosync.WaitGroup
	used := map[[saltSize]byte]map[uint64]bool{}
	row := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i*7%450) }
	other := NewBox(box.key, columns)
	for worker := range 4 {
		running.Go(func() {
			for i := range 300 {
				record := int64(worker*1000 + i)
				sealed := box.Seal(nil, record, row(i))
				if opened, err := other.Open(nil, record, sealed); err != nil || !bytes.HasPrefix(opened, row(i)) {
					t.Errorf("row %d: %v", record, err)
				}
				salt, from := [saltSize]byte(sealed[1:]), binary.BigEndian.Uint64(sealed[1+saltSize:])
				blocks := uint64(len(sealed)-Overhead)/padTo + 1
				lock.Lock()
				if used[salt] == nil {
					used[salt] = map[uint64]bool{}
				}
				if end := from + blocks; end > box.most && from != 0 {
					t.Errorf("a derived key encrypts the blocks up to %d", end)
				}
				for at := range blocks {
					if used[salt][from+at] {
						t.Errorf("block %d is used twice", from+at)
					}
					used[salt][from+at] = true
				}
				lock.Unlock()
			}
		})
	}
	running.Wait()
	if len(used) < 4*300*10/20 {
		t.Errorf("%d salts were drawn", len(used))
	}
}
