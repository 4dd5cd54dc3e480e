package main

import (
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

func TestWhereTheConsoleIs(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1:6480": "http://127.0.0.1:6480/", ":6480": "http://localhost:6480/", "0.0.0.0:80": "http://localhost:80/",
		"[::1]:6480": "http://[::1]:6480/", "console.example:443": "http://console.example:443/",
	} {
		got, err := whereConsole(config.Console{Listen: listen})
		if err != nil || got.URL != want {
			t.Errorf("%s: got %q, %v", listen, got.URL, err)
		}
	}
	if got, _ := whereConsole(config.Console{Listen: "localhost:1", Certificate: config.Certificate{CertFile: "c", KeyFile: "k"}, Actions: config.Allow}); got.URL != "https://localhost:1/" || !got.Actions {
		t.Errorf("got %+v", got)
	}
	if _, err := whereConsole(config.Console{}); err == nil {
		t.Error("a configuration without a console has one")
	}
}
