package dossier

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/verify"
)

func keys(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	all := make(map[string]crypto.Signer)
	for name, curve := range map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = key
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	all["Ed25519"] = edwards
	if all["RSA"], err = rsa.GenerateKey(rand.Reader, leastRSA); err != nil {
		t.Fatal(err)
	}
	return all
}

func inPEM(t *testing.T, kind string, key any) []byte {
	t.Helper()
	encode := x509.MarshalPKIXPublicKey
	if kind == "PRIVATE KEY" {
		encode = x509.MarshalPKCS8PrivateKey
	}
	text, err := encode(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text})
}

// TestSignatures: what a key signs is checked by its public key alone, and by no other; every bit counts.
func TestSignatures(t *testing.T) {
	t.Parallel()
	file, all := []byte("{\"format\": 1}\n"), keys(t)
	for name, key := range all {
		private, err := ParseKey(inPEM(t, "PRIVATE KEY", key))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		signature, err := Sign(file, private)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if bytes.Count(signature, []byte(".")) != 2 || !bytes.Contains(signature, []byte("..")) || bytes.Count(signature, []byte("\n")) != 1 {
			t.Errorf("%s: %s", name, signature)
		}
		for other, of := range all {
			public, err := ParsePublicKey(inPEM(t, "PUBLIC KEY", of.Public()))
			if err != nil {
				t.Fatalf("%s: %v", other, err)
			}
			if err := CheckSignature(file, signature, public); (err == nil) != (name == other) {
				t.Errorf("signed by %s, checked by %s: %v", name, other, err)
			}
		}
		for bit := range 8 * len(file) {
			changed := slices.Clone(file)
			changed[bit/8] ^= 1 << (bit % 8)
			if CheckSignature(changed, signature, key.Public()) == nil {
				t.Errorf("%s: a changed file passes", name)
			}
		}
		for _, bad := range []string{"", ".", "..", "x..y", string(signature[:20]), strings.Replace(string(signature), "..", ".e30.", 1)} {
			if CheckSignature(file, []byte(bad), key.Public()) == nil {
				t.Errorf("%s: %q passes", name, bad)
			}
		}
	}
}

// TestForeignSignaturesAreRefused: an algorithm is that of the key, whatever a signature says.
func TestForeignSignaturesAreRefused(t *testing.T) {
	t.Parallel()
	key := keys(t)["RSA"].(*rsa.PrivateKey)
	file := []byte("file")
	for _, with := range []jose.SigningKey{
		{Algorithm: jose.RS256, Key: key},
		{Algorithm: jose.HS256, Key: inPEM(t, "PUBLIC KEY", key.Public())},
	} {
		signer, err := jose.NewSigner(with, nil)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := signed.DetachedCompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		if CheckSignature(file, []byte(text), key.Public()) == nil {
			t.Errorf("%s passes", with.Algorithm)
		}
	}
}

func TestUnusableKeys(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0") // Go itself makes and reads no small keys otherwise
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	good := keys(t)["Ed25519"]
	for name, text := range map[string][]byte{
		"nothing": nil, "a small key": inPEM(t, "PRIVATE KEY", small), "a public key": inPEM(t, "PUBLIC KEY", good.Public()),
		"half a key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte{1, 2}}),
	} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%s signs", name)
		}
	}
	for name, text := range map[string][]byte{
		"nothing": nil, "a small key": inPEM(t, "PUBLIC KEY", small.Public()), "a private key": inPEM(t, "PRIVATE KEY", good),
	} {
		if _, err := ParsePublicKey(text); err == nil {
			t.Errorf("%s checks", name)
		}
	}
}

// TestSampleIsSigned checks the sample of the documentation, and that its JSON has the form of today.
func TestSampleIsSigned(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "docs", "report")
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	key, err := ParsePublicKey(read("operator.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dossier.html", "dossier.json"} {
		if err := CheckSignature(read(name), read(name+".jws"), key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(read("dossier.json")))
	decoder.DisallowUnknownFields()
	var d Dossier
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	var again, page bytes.Buffer
	if err := d.WriteJSON(&again); err != nil || again.String() != string(read("dossier.json")) {
		t.Errorf("the sample is of another form: make it anew; %v", err)
	}
	if err := d.WritePage(&page); err != nil || page.String() != string(read("dossier.html")) {
		t.Errorf("the sample's page is of another form: make it anew; %v", err)
	}
}

// TestLimitsAreTold: what a reader of the dossier has to know is among the limits.
func TestLimitsAreTold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		change func(t *Table)
		want   string
	}{
		{func(t *Table) { t.Updates, t.GivesAway = "immediate", "whoever polls" }, "readers see each change at once: whoever polls"},
		{func(t *Table) { t.Risks = []verify.Risk{{Groups: 2, Size: 20, Smallest: 10}} }, "up to 0.1, above the threshold of 0.09: it takes k = 12"},
		{func(t *Table) { t.OffBy = nil }, "off by 4 now"},
		{func(t *Table) { t.Proof = nil }, "never been verified"},
		{func(t *Table) { t.Proof.Passed = false }, "does not keep its promises"},
		{func(t *Table) { t.Proof.Earlier = true }, "of an earlier release"},
		{func(t *Table) { t.Audiences = []Audience{{}} }, "who pool what they have know what the finest of their releases tells"},
		{func(t *Table) { t.Audiences = []Audience{{}} }, "kproxy_weight alone is more precise"},
		{func(t *Table) {}, ""},
	} {
		table, g := Table{Name: "public.folk", Updates: "guarded", OffBy: new(int), Proof: &state.Proof{Passed: true}}, gathering{dossier: &Dossier{Threshold: 0.09}}
		table.Untold = 4
		test.change(&table)
		g.limit(&table)
		g.limitAudiences(&table)
		told := strings.Join(g.dossier.Limits, "; ")
		if test.want == "" && told != "" || !strings.Contains(told, test.want) {
			t.Errorf("told is %q, not %q", told, test.want)
		}
	}
	immediate, g := Table{Name: "public.folk", Updates: "immediate", Audiences: []Audience{{}}}, gathering{dossier: &Dossier{}}
	g.limitAudiences(&immediate)
	if told := strings.Join(g.dossier.Limits, "; "); strings.Contains(told, "kproxy_weight") {
		t.Errorf("of a table that has no weights, told is %q", told)
	}
}
