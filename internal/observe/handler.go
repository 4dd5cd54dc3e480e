package observe

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Health is what probes are told. It has no secrets: reasons are sentences of kproxy's
// own, without names of tables, users or servers.
type Health struct {
	// Alive says that clients who connect are answered, and that sessions go on.
	Alive bool `json:"alive"`
	// Ready says that statements are served now.
	Ready bool `json:"ready"`
	// Reasons say why not.
	Reasons []string `json:"reasons"`
	// RefusedSince is since when statements have not been served, nil where they are, or never were.
	RefusedSince *time.Time `json:"refused_since,omitempty"`
}

// probePatience bounds what a probe may take.
const probePatience = 3 * time.Second

// Handler serves /metrics, /healthz and /readyz to whoever asks by localhost, an IP
// address, the name in the listening address (host:port), or another name that is given.
// Health is asked at each probe.
func (o *Observer) Handler(health func(context.Context) Health, listen string, names ...string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: 2, Timeout: 10 * time.Second, Registry: o.registry,
	}))
	probe := func(good func(Health) bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), probePatience)
			defer cancel()
			h := health(ctx)
			if h.Reasons == nil {
				h.Reasons = []string{}
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			if !good(h) {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_ = json.NewEncoder(w).Encode(h) // who does not read it does not need it
		}
	}
	mux.HandleFunc("GET /healthz", probe(func(h Health) bool { return h.Alive }))
	mux.HandleFunc("GET /readyz", probe(func(h Health) bool { return h.Ready }))
	return ownHosts(listen, names).only(mux)
}

// Profiling serves the process's profiles below /debug/pprof/, for who is authenticated: a
// profile tells of names of users and of texts that are in memory. It is not served by
// Handler.
func Profiling() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
