// Package bi has real tools for analysts work through kproxy on the demonstration's
// hospital: they look at the tables, fill dashboards, reports and sheets, and what they
// show is compared with the same questions put to the published relation straight. Those
// that npm, pip or a desktop is needed for run with -bi.all (make bi).
package bi
