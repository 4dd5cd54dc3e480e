package proxy

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	oldproto "github.com/jackc/pgproto3/v2"
)

func TestSplitOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string][]string{
		"":                         nil,
		"  \t ":                    nil,
		"-c a=b":                   {"-c", "a=b"},
		`  -c  a=b\ c --d=\\ `:     {"-c", "a=b c", `--d=\`},
		`\ `:                       {" "},
		`a\`:                       {"a"},
		"-cTimeZone=UTC\n--x-y=z ": {"-cTimeZone=UTC", "--x-y=z"},
	} {
		if got := splitOptions(options); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", options, got, want)
		}
	}
}

func TestStartupParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        map[string]string // nil = refused
	}{
		{"TimeZone", "UTC", map[string]string{"timezone": "UTC"}},
		{"options", "-c statement-timeout=5 --datestyle=ISO", map[string]string{"statement_timeout": "5", "datestyle": "ISO"}},
		{"options", "-c", nil},
		{"options", "-c x", nil},
		{"options", "-e", nil},
		{"options", "-c search_path=x,\\ y", map[string]string{"search_path": "x, y"}},
		{"options", "-c JIT=on -c jit=off", map[string]string{"jit": "off"}},
		{"CLIENT_ENCODING", "UTF8", map[string]string{"client_encoding": "UTF8"}},
		{"replication", "off", map[string]string{}},
		{"replication", "0", map[string]string{}},
		{"replication", "1", nil},
		{"replication", "", nil},
		{"USER", "bob", map[string]string{"user": "bob"}},
		{"_pq_.whatever", "1", map[string]string{}},
	} {
		body := []byte("user\x00ann\x00" + c.name + "\x00" + c.value + "\x00\x00")
		st, err := parseStartup(startupPacket{code: protocol30, body: body})
		if (err == nil) != (c.want != nil) || err == nil && !maps.Equal(st.parameters, c.want) {
			t.Errorf("%s=%s: %v, %v; want %v", c.name, c.value, st.parameters, err, c.want)
		}
		if err == nil && (st.user != "ann" || st.database != "ann") {
			t.Errorf("%+v", st)
		}
	}
}

// FuzzStartup reads any bytes as a first packet. Well-formed ones are compared
// with the independent codec.
func FuzzStartup(f *testing.F) {
	packet := func(version uint32, body string) []byte {
		out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
		return append(binary.BigEndian.AppendUint32(out, version), body...)
	}
	for _, seed := range [][]byte{
		{},
		{0, 0, 0, 0},
		{0, 0, 0, 8, 4, 210, 22, 47},
		{0xff, 0xff, 0xff, 0xff},
		{0x16, 3, 1, 2, 0},
		packet(protocol30, "user\x00ann\x00\x00"),
		packet(protocol30, "user\x00ann\x00database\x00clinic\x00options\x00-c timezone=UTC\x00\x00"),
		packet(protocol32, "user\x00ann\x00_pq_.x\x00y\x00\x00"),
		packet(protocol30, "user\x00ann"), packet(protocol30, "user\x00\x00"), packet(protocol30, "\x00"), packet(protocol30, ""),
		packet(protocol30, "user\x00ann\x00\x00\x00"), packet(cancelRequestCode, "12345678"), packet(gssRequestCode, ""),
		packet(protocol30, "user\x00a\x00replication\x00true\x00\x00"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		p, err := readStartupPacket(r)
		if err != nil {
			return
		}
		if used := len(data) - r.Len(); used != 8+len(p.body) || used > maxStartupBytes {
			t.Fatalf("%d bytes were read for a body of %d", used, len(p.body))
		}
		st, err := parseStartup(p)
		if err != nil {
			if last := finalError(err); last == nil || !validSQLState(last.state) {
				t.Fatalf("no answer for %v", err)
			}
			return
		}
		for name := range st.parameters {
			if name != strings.ToLower(name) {
				t.Errorf("%q is not in lower case", name)
			}
		}
		if p.code != protocol30 {
			return
		}
		var theirs oldproto.StartupMessage
		if err := theirs.Decode(data[4 : 8+len(p.body)]); err != nil {
			if len(p.body) > 1 {
				t.Errorf("the independent codec refuses %q: %v", p.body, err)
			}
			return
		}
		if theirs.Parameters["user"] != st.user {
			t.Errorf("user %q, but %q to the independent codec", st.user, theirs.Parameters["user"])
		}
	})
}

// FuzzReport scrubs any error. What clients get must be readable to the
// independent codec and hold nothing but the fields that are kept.
func FuzzReport(f *testing.F) {
	for _, seed := range []string{
		"", "\x00", "SERROR\x00VERROR\x00C42P01\x00Mrelation \"kproxy_release_public.patients\" does not exist\x00Hhint\x00Dcanary\x00Wcanary\x00P15\x00\x00",
		"SFEHLER\x00Mcut off in the midd", "C42\x00P01\x00\x00", "M\xff\xfe\x00\x00", "VNOTICE\x00SLOG\x00\x00", "MM\x00M",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := parseReport(body, utf8Charset)
		r.position = (&message{}).locate(testGate{}, r.position)
		encoded := r.scrubbed(testGate{}).append(nil, 'E', utf8Charset)
		var decoded oldproto.ErrorResponse
		if err := decoded.Decode(encoded[headerBytes:]); err != nil {
			t.Fatalf("%q: %v", encoded, err)
		}
		if int(binary.BigEndian.Uint32(encoded[1:]))+1 != len(encoded) {
			t.Errorf("length of %q", encoded)
		}
		if !validSQLState(decoded.Code) || !utf8.ValidString(decoded.Message) || strings.Contains(decoded.Message, "kproxy_release_public") {
			t.Errorf("%+v", decoded)
		}
		want := oldproto.ErrorResponse{
			Severity: decoded.Severity, SeverityUnlocalized: decoded.Severity,
			Code: decoded.Code, Message: decoded.Message, Hint: decoded.Hint,
		}
		if keepDetail[decoded.Code] {
			want.Detail = decoded.Detail
		}
		if keepsRoutine(decoded.Code) && isRoutine.MatchString(decoded.Routine) {
			want.Routine = decoded.Routine
		}
		if got := encode(t, nil, &decoded); !bytes.Equal(got, encode(t, nil, &want)) {
			t.Errorf("more than the fields kept: %+v", decoded)
		}
	})
}
