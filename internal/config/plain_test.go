package config

import (
	"slices"
	"strings"
	"testing"
)

func TestPlainListeners(t *testing.T) {
	t.Parallel()
	const ours, everywhere = "[127.0.0.1:6432, '[::1]:6432', /run/kproxy, localhost:7000]", "[127.0.0.1:6432, ':6432', 10.0.0.1:7000]"
	beyond := []string{":6432", "10.0.0.1:7000"}
	const pair = "tls: {cert_file: server.crt, key_file: server.key}\n"
	for name, test := range map[string]struct {
		listen, more string
		want         []string
	}{
		"this machine":             {ours, "", nil},
		"others":                   {everywhere, "", beyond},
		"with TLS":                 {everywhere, pair, nil},
		"with TLS as clients like": {everywhere, "tls: {mode: allow, cert_file: a, key_file: b}\n", beyond},
		"rules for TLS":            {everywhere, "tls: {mode: allow, cert_file: a, key_file: b}\naccess: [{transport: tls, method: scram}]\n", nil},
		"rules that allow": {
			everywhere, "tls: {mode: allow, cert_file: a, key_file: b}\naccess: [{transport: tls, method: scram}, {from: 10.0.0.0/8, method: scram}]\n", beyond,
		},
		"rules for this machine": {
			everywhere, "tls: {mode: allow, cert_file: a, key_file: b}\naccess: [{transport: tls, method: scram}, {from: [127.0.0.0/8, '::1'], method: scram}]\n", nil,
		},
		"plain refused before": {
			everywhere, "tls: {mode: allow, cert_file: a, key_file: b}\naccess: [{transport: plain, method: reject}, {method: scram}]\n", nil,
		},
		"plain refused to some": {
			everywhere, "tls: {mode: allow, cert_file: a, key_file: b}\naccess: [{transport: plain, users: analyst, method: reject}, {method: scram}]\n", beyond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, base, _ := strings.Cut(settings, "users:")
			c, err := Parse("kproxy.yaml", []byte("listen: "+test.listen+"\n"+test.more+"users:"+base))
			if err != nil {
				t.Fatal(err)
			}
			if got := c.PlainListeners(); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
