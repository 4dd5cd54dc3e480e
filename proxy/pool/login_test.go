package pool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"testing"
)

func TestPinnedParametersWin(t *testing.T) {
	t.Parallel()
	got := effective(
		map[string]string{"timezone": "UTC", "datestyle": "German", "application_name": "psql", "client_encoding": "LATIN1"},
		map[string]string{"TimeZone": "Asia/Tokyo", "Client_Encoding": "LATIN1", "search_path": "a"})
	want := map[string]string{"timezone": "Asia/Tokyo", "datestyle": "German", "client_encoding": "LATIN1", "search_path": "a", "application_name": "kproxy"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if groupOf("r", got) == groupOf("", got) || groupOf("", map[string]string{"a": "b"}) == groupOf("", map[string]string{"a": "c"}) {
		t.Error("one group for different connections")
	}
}

func TestMessageReaderStopsAtTheEndOfAMessage(t *testing.T) {
	t.Parallel()
	message := func(kind byte, body string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
	}
	first, second := message('S', "one\x00two\x00"), message('Z', "I")
	from := bytes.NewReader(append(append([]byte(nil), first...), second...))
	m := &messageReader{from: from}
	got := make([]byte, 100)
	read := 0
	for read < len(first) {
		n, err := m.Read(got[read:])
		if err != nil {
			t.Fatal(err)
		}
		read += n
	}
	if !bytes.Equal(got[:read], first) || from.Len() != len(second) {
		t.Errorf("%q, %d bytes left", got[:read], from.Len())
	}
	huge := &messageReader{from: bytes.NewReader([]byte{'S', 0x7f, 0, 0, 0})}
	if _, err := huge.Read(got); !errors.Is(err, errMalformed) {
		t.Error(err)
	}
}
