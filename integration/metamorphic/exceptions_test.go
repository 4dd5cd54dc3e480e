package metamorphic

import (
	"bytes"
	"regexp"
	"strings"
)

// exception is something that differs by nature. What it matches is taken out of the
// answers of the observables that it is for.
type exception struct {
	name, reason string
	// of are the observables.
	of *regexp.Regexp
	// matches are the bytes that differ; nil is all of the answer.
	matches *regexp.Regexp
}

var exceptions = []exception{
	{
		name: "duration", reason: "how long a statement took is measured by a clock",
		of:      regexp.MustCompile(`(?i)\bexplain\b`),
		matches: regexp.MustCompile(`actual time=[0-9.]+\.\.[0-9.]+|Time\\?"?: [0-9.]+|Time>[0-9.]+`),
	},
	{
		name: "clock", reason: "these functions tell the time",
		of: regexp.MustCompile(`(?i)clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|\bnow\b|\bnow"|current_time|localtime|pg_postmaster_start_time|pg_conf_load_time`),
	},
	{
		name: "session", reason: "a session has its own process, which began at its own time",
		of:      regexp.MustCompile(`pg_stat_activity|pg_stat_get_activity|pg_stat_get_backend|pg_backend_pid`),
		matches: regexp.MustCompile(`"\d{1,7}"|"pid\\?":\d+|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(\+00(:00)?)?`),
	},
	{
		name: "made", reason: "cursors and prepared statements are listed with the time at which they were made",
		of:      regexp.MustCompile(`pg_cursors|pg_cursor\b|pg_prepared_statement`),
		matches: regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(\+00)?`),
	},
	{
		name: "made, in binary", reason: "the same, and what sessions have of their own, in a form in which no time can be told from other bytes",
		of: regexp.MustCompile(`(?m)"(pg_cursors|pg_prepared_statements|pg_stat_activity)" \(binary\)$`),
	},
	{
		name: "port", reason: "two servers on one machine listen on two ports, and each connection has one",
		of:      regexp.MustCompile(`SHOW ALL|port|application_name|pg_stat_activity|^login`),
		matches: regexp.MustCompile(`"port" "\d+" .*|"\d{5}"|metamorphic \([0-9.]+:\d+\)`),
	},
	{
		name: "settings", reason: "two of the rows have such ports, anywhere; SHOW shows each setting by itself",
		of: regexp.MustCompile(`pg_settings`),
	},
	{
		name: "random", reason: "these functions, and samples, are different each time",
		of: regexp.MustCompile(`random|uuidv[47]|(?i:tablesample)`),
	},
}

// endless says whether the time limit of statements ended an answer. How many rows came before
// depends on how busy the machine is.
func endless(answer []byte) bool {
	return bytes.Contains(answer, []byte("\x00C57014\x00Mcanceling statement due to statement timeout\x00"))
}

// normalize takes out of an answer what differs by nature, and with it the lengths that
// depend on it.
func normalize(o observable, answer []byte) []byte {
	if endless(answer) {
		return []byte("endless")
	}
	whole := o.whole()
	for _, e := range exceptions {
		if !e.of.MatchString(whole) {
			continue
		}
		if e.matches == nil {
			return []byte(e.name)
		}
		answer = e.matches.ReplaceAll([]byte(strings.Join(messages(answer), "\n")), []byte("<"+e.name+">"))
	}
	return answer
}
