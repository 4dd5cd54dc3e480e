package access

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// TestDecide has rules like those of a pg_hba.conf, of which the first that matches
// decides.
func TestDecide(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{Transport: Unix, Users: []string{"root"}, Method: Password},
		{Transport: Unix},
		{Addresses: prefixes("10.9.0.0/16")},
		{Users: []string{"eve"}, Addresses: prefixes("10.0.0.0/8")},
		{Transport: TLS, Users: []string{"ann"}, Method: Certificate},
		{Transport: TLS, Users: []string{"bob"}, Addresses: prefixes("fd00::/8"), Method: Password, Certificate: VerifyFull},
		{Transport: TLS, Method: Password},
		{Transport: Plain, Databases: []string{"clinic", "test"}, Users: []string{"ann", "bob"}, Addresses: prefixes("127.0.0.1/32", "::1/128"), Method: Password},
	}
	type want struct {
		number  int
		refused bool
		method  Method
	}
	for _, c := range []struct {
		user, database string
		transport      Transport
		address        string
		want           want
	}{
		{"root", "clinic", Unix, "", want{1, false, Password}},
		{"ann", "clinic", Unix, "", want{2, true, Password}}, // as a wrong password: root may
		{"ann", "clinic", TLS, "10.9.1.2", want{3, true, Reject}},
		{"eve", "clinic", TLS, "10.9.1.2", want{3, true, Reject}},
		{"eve", "clinic", TLS, "10.1.1.2", want{4, true, Password}}, // as the first with a password that others may meet
		{"eve", "clinic", TLS, "11.1.1.2", want{7, false, Password}},
		{"ann", "clinic", TLS, "10.1.1.2", want{5, false, Certificate}},
		{"ann", "clinic", TLS, "::ffff:10.1.1.2", want{5, false, Certificate}},
		{"ann", "clinic", TLS, "::ffff:10.9.1.2", want{3, true, Reject}},
		{"bob", "clinic", TLS, "10.1.1.2", want{7, false, Password}},
		{"bob", "clinic", TLS, "fd00::1%eth0", want{6, false, Password}},
		{"Bob", "clinic", TLS, "fd00::1", want{7, false, Password}},
		{"bob", "clinic", Plain, "127.0.0.1", want{8, false, Password}},
		{"bob", "clinic", Plain, "::1", want{8, false, Password}},
		{"bob", "clinic", Plain, "::ffff:127.0.0.1", want{8, false, Password}},
		{"cem", "clinic", Plain, "127.0.0.1", want{0, true, Password}},
		{"bob", "others", Plain, "127.0.0.1", want{0, true, Reject}}, // nobody may: told at once
		{"bob", "clinic", Plain, "127.0.0.2", want{0, true, Reject}},
		{"eve", "clinic", Plain, "10.0.0.1", want{4, true, Reject}},
	} {
		q := Request{User: c.user, Database: c.database, Transport: c.transport, Certified: c.transport == TLS}
		if c.address != "" {
			q.Address = netip.MustParseAddr(c.address)
		}
		d := decide(rules, q)
		if got := (want{d.Number, d.Refused, d.Method}); got != c.want {
			t.Errorf("%+v: %+v, want %+v", q, got, c.want)
		}
	}
}

// TestRefusalsDoNotTellUsers looks at all short lists of rules: whoever fails, with a
// certificate or without one, is asked for what anybody is asked for who fails there.
func TestRefusalsDoNotTellUsers(t *testing.T) {
	t.Parallel()
	var kinds []Rule
	for _, users := range [][]string{nil, {"ann"}, {"bob"}} {
		kinds = append(kinds, Rule{Users: users, Method: Password}, Rule{Users: users, Method: Reject},
			Rule{Users: users, Method: Certificate}, Rule{Users: users, Method: Password, Certificate: VerifyCA})
	}
	const length = 4
	lists := 1
	for range length {
		lists *= len(kinds)
	}
	// shape is what a client sees that fails: whether it is asked for a password, refused for
	// want of a certificate, or at once.
	shape := func(d Decision, certified bool) string {
		if d.Method == Certificate && !d.Refused {
			d = d.Refuse(errors.New("the client certificate is for somebody else"))
		}
		switch {
		case d.Method == Reject:
			return "refused"
		case d.NeedsCertificate() && !certified:
			return "wants a certificate"
		case d.Method == Certificate:
			return "certificate"
		default:
			return "password"
		}
	}
	for number := range lists {
		var rules []Rule
		for n := number; len(rules) < length; n /= len(kinds) {
			rules = append(rules, kinds[n%len(kinds)])
		}
		for _, certified := range []bool{false, true} {
			ask := func(user string) string {
				return shape(decide(rules, Request{User: user, Transport: TLS, Certified: certified}), certified)
			}
			stranger := ask("eve")
			for _, user := range []string{"ann", "bob"} {
				if got := ask(user); got != stranger {
					t.Fatalf("%+v, certified %v: %s meets %s, a stranger %s", rules, certified, user, got, stranger)
				}
			}
		}
	}
}

func TestRuleMistakes(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]Rule{
		"transport":          {Transport: 4},
		"method":             {Method: -1},
		"check":              {Method: Password, Certificate: 3},
		"name in":            {CertificateName: 2},
		"need transport TLS": {Method: Certificate},
		"certificates need":  {Method: Password, Certificate: VerifyCA, Transport: Plain},
		"no addresses":       {Transport: Unix, Addresses: prefixes("0.0.0.0/0")},
		"not a network":      {Addresses: []netip.Prefix{{}}},
		"is not a network":   {Addresses: prefixes("::ffff:10.0.0.0/104")},
		"empty":              {Users: []string{""}},
		"a name is empty or": {Databases: []string{"a\x00"}},
	} {
		if err := rule.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want something of %q", rule, err, want)
		}
	}
	if err := (Rule{}).check(); err != nil {
		t.Error(err)
	}
}

// TestZeroRuleRefuses is about a method that has been forgotten.
func TestZeroRuleRefuses(t *testing.T) {
	t.Parallel()
	if d := decide([]Rule{{}}, Request{User: "ann", Transport: TLS}); !d.Refused || d.Method != Reject {
		t.Errorf("%+v", d)
	}
}

// TestPasswordsArePretended has users of both kinds, and one who is neither.
func TestPasswordsArePretended(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{Transport: TLS, Users: []string{"tableau"}, Method: Certificate},
		{Transport: TLS, Users: []string{"ann"}, Method: Password},
	}
	for _, transport := range []Transport{Plain, TLS} {
		d := decide(rules, Request{User: "eve", Transport: transport})
		if want := map[Transport]Method{Plain: Reject, TLS: Password}[transport]; !d.Refused || d.Method != want {
			t.Errorf("%s: %+v", transport, d)
		}
	}
}
