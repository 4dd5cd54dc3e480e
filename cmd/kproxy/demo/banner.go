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
	analystQueries, ownerQueries := source.queries()
	s.say("\nRead the anonymized tables, as an analyst:\n\n    psql '%s'\n", s.proxyURL())
	for _, q := range analystQueries {
		fmt.Fprintf(s.Out, "        %s\n", q)
	}
	then := "and see the release follow"
	if s.Guarded {
		then = fmt.Sprintf("and see changes in batches: newcomers after %v, deletions when nobody stands out", shortWait)
	}
	s.say("\nChange the source in another window, as its owner, %s:\n\n    psql '%s'\n", then, s.server.DSN(s.config.Database))
	for _, q := range ownerQueries {
		fmt.Fprintf(s.Out, "        %s\n", q)
	}
	s.say("\nCtrl-C stops everything and removes what was made.")
}
