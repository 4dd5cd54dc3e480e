package proxy

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"testing"
)

// startupBytes is a startup packet with names and values.
func startupBytes(version uint32, pairs ...string) rawMessage {
	var body []byte
	for _, text := range pairs {
		body = append(append(body, text...), 0)
	}
	return packetBytes(version, append(body, 0))
}

// packetBytes is a packet without a type.
func packetBytes(code uint32, body []byte) rawMessage {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return append(binary.BigEndian.AppendUint32(out, code), body...)
}

// readMessage reads a message that the independent codec does not know.
func (w *wire) readMessage() (kind byte, body []byte) {
	w.t.Helper()
	var header [headerBytes]byte
	if _, err := io.ReadFull(w.Conn, header[:]); err != nil {
		w.t.Fatal(err)
	}
	f, err := parseHeader(header[:])
	if err != nil {
		w.t.Fatal(err)
	}
	body = make([]byte, f.size)
	if _, err := io.ReadFull(w.Conn, body); err != nil {
		w.t.Fatal(err)
	}
	return f.kind, body
}

// TestVersions logs in with versions of protocol 3, and cancels with the key that each
// version has.
func TestVersions(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for name, c := range map[string]struct {
		version     uint32
		options     []string
		negotiation string // in hexadecimal; "" = none
		secret      int
	}{
		"3.0":              {protocol30, nil, "", 4},
		"3.1":              {protocol30 + 1, nil, "", 4},
		"3.2":              {protocol32, nil, "", 32},
		"3.3":              {protocol32 + 1, nil, "00030002" + "00000000", 32},
		"3.9999":           {3<<16 | 9999, nil, "00030002" + "00000000", 32},
		"3.0 with options": {protocol30, []string{"_pq_.a", "1", "_pq_.b", ""}, "00030000" + "00000002" + "5f70715f2e6100" + "5f70715f2e6200", 4},
		"libpq's probe": {
			3<<16 | 9999,
			[]string{"_pq_.test_protocol_negotiation", ""},
			"00030002" + "00000001" + hex.EncodeToString([]byte("_pq_.test_protocol_negotiation\x00")), 32,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := dialWire(t, p.addr)
			w.send(startupBytes(c.version, append(c.options, "user", testUser, "database", published)...))
			if c.negotiation != "" {
				if kind, body := w.readMessage(); kind != 'v' || hex.EncodeToString(body) != c.negotiation {
					t.Fatalf("%c %x, want %s", kind, body, c.negotiation)
				}
			}
			w.scram(testPassword)
			var key []byte
			for kind := byte(0); kind != 'Z'; {
				var body []byte
				if kind, body = w.readMessage(); kind == 'K' {
					key = body
				}
			}
			if len(key) != 4+c.secret {
				t.Fatalf("a key of %d bytes, want %d", len(key), 4+c.secret)
			}
			direct, mark := connectPgx(t, p.direct), marker()
			w.send(query("SELECT pg_sleep(600) /* " + mark + " */"))
			eventually(t, "it runs", func() bool { return active(t, direct, mark) == 1 })
			canceling := dialWire(t, p.addr)
			canceling.send(packetBytes(cancelRequestCode, key))
			if m, err := canceling.Receive(); err == nil {
				t.Errorf("a cancel request was answered by %#v", m)
			}
			if got := w.script(1); got != "T E57014 ZI" && got != "E57014 ZI" {
				t.Error(got)
			}
		})
	}
}
