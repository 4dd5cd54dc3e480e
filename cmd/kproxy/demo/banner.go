package demo

import (
	"fmt"
	"net/url"
)

// proxyURL is where analysts connect.
func (s *stage) proxyURL() string {
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(analyst, s.password),
		Host: s.daemon.Address().String(), Path: s.config.Database,
	}
	return u.String()
}

// banner says how to connect and what to try.
func (s *stage) banner(source source) {
	analystQueries, ownerQueries := source.queries(s.Guarded)
	s.say("\nRead the anonymized tables, as an analyst:\n\n    psql '%s'\n", s.proxyURL())
	for _, q := range analystQueries {
		fmt.Fprintf(s.Out, "        %s\n", q)
	}
	then := "and see the release follow"
	if s.Guarded {
		then = fmt.Sprintf("and see that nobody stands out: newcomers appear together, if they are enough, after %v, and rows of the deleted stay for a while", shortWait)
	}
	s.say("\nChange the source in another window, as its owner, %s:\n\n    psql '%s'\n", then, s.server.DSN(s.config.Database))
	for _, q := range ownerQueries {
		fmt.Fprintf(s.Out, "        %s\n", q)
	}
	if at := s.daemon.ConsoleURL(); at != "" {
		s.say("\nWatch it all in the console, as %s with the password %s:\n\n    %s", operator, s.consolePassword, at)
		s.say("\nMetrics for Prometheus: %s/metrics", s.daemon.MetricsURL())
	}
	s.say("\nCtrl-C stops everything and removes what was made.")
}
