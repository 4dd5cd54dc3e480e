package observe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestHosts asks by names that are this machine's, and by others.
func TestHosts(t *testing.T) {
	t.Parallel()
	handler := New(Options{State: busy}).Handler(func(context.Context) Health { return Health{Alive: true, Ready: true} },
		"kproxy.example:9187", "Metrics.Example", "metrics.svc.")
	for host, want := range map[string]int{
		"localhost": 200, "localhost:9187": 200, "LOCALHOST.": 200, "127.0.0.1:9187": 200, "[::1]:9187": 200, "[::1]": 200, "10.1.2.3": 200,
		"kproxy.example:9187": 200, "metrics.example": 200, "METRICS.svc:80": 200,
		"rebound.example": 421, "rebound.example:9187": 421, "localhost.rebound.example": 421, "127.0.0.1.rebound.example:9187": 421,
		"": 421, "example": 421, "127.0.0.1@rebound.example": 421, "127.1": 421,
	} {
		for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			if handler.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s of %q: %d, want %d", path, host, w.Code, want)
			}
		}
	}
}
