package scram

import "testing"

func TestDeriveRefuses(t *testing.T) {
	t.Parallel()
	salt := make([]byte, 16)
	for name, c := range map[string]struct {
		password   string
		salt       []byte
		iterations int
	}{
		"empty password": {"", salt, 4096}, "NUL": {"a\x00b", salt, 4096}, "no salt": {"a", nil, 4096},
		"long salt": {"a", make([]byte, 1025), 4096}, "few iterations": {"a", salt, 4095}, "many iterations": {"a", salt, 10_000_001},
	} {
		if _, err := Derive(c.password, c.salt, c.iterations); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	key := "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for _, text := range []string{
		derived(f).String(), "", "md5abc", "SCRAM-SHA-256$", "SCRAM-SHA-256$4096:$:", "SCRAM-SHA-256$4096:AAAA$AAAA:AAAA",
		"SCRAM-SHA-256$+1:AAAA$" + key + ":" + key, "SCRAM-SHA-256$1:AAAA$" + key + ":" + key + "\n",
		"SCRAM-SHA-256$99999999:AAAA$" + key + ":" + key, "SCRAM-SHA-256$1:AA==$" + key + ":" + key,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text)
		if err != nil {
			return
		}
		if v.String() != text || v.Iterations < 1 || len(v.Salt) == 0 || len(v.StoredKey) != 32 || len(v.ServerKey) != 32 {
			t.Errorf("%q was read as %q", text, v)
		}
	})
}

func derived(tb testing.TB) Verifier {
	tb.Helper()
	v, err := Derive("a password", []byte("0123456789abcdef"), MinIterations)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func TestNewIsParsedBack(t *testing.T) {
	t.Parallel()
	first, err := New("a password")
	if err != nil {
		t.Fatal(err)
	}
	second, err := New("a password")
	if err != nil || first.String() == second.String() {
		t.Errorf("two verifiers of one password are the same: %v", err)
	}
	if parsed, err := Parse(first.String()); err != nil || parsed.String() != first.String() {
		t.Errorf("read back: %v", err)
	}
}
