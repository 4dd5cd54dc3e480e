package catalog

import _ "embed"

// The configuration that a store was set up for: as the store notes it, or as one of an earlier version shows it, which
// has a policy alone.
const (
	InstallationNoted = "SELECT i.place, i.slot, i.publication, i.tables, i.readers FROM kproxy_store.installation i"
	InstallationShown = `SELECT pg_catalog.max(p.place) AS place, (SELECT pg_catalog.max(s.slot) FROM kproxy_store.position s) AS slot, NULL::text AS publication,
  (SELECT pg_catalog.array_agg(pg_catalog.format('%I.%I', t.of -> 'Table' ->> 'Schema', t.of -> 'Table' ->> 'Relation'))
   FROM kproxy_store.policy l CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(l.policy -> 'Tables') AS t(of)
   WHERE l.number = (SELECT pg_catalog.max(o.number) FROM kproxy_store.policy o)) AS tables,
  (SELECT pg_catalog.array_agg(r.name) FROM kproxy_store.reader r) AS readers
FROM kproxy_store.policy p WHERE p.number = (SELECT pg_catalog.max(l.number) FROM kproxy_store.policy l)`
)

// InstallationElsewhere compares, in SQL over a common table expression kept, which is one of the above, the
// configuration that a store was set up for with the one of place $1, whose policy has fingerprint $2, with slot $3,
// publication $4, and the names of its tables $5 and readers $6, of which the tables are quoted with their schemas.
// It has no row where both are of one place, or the policy in force is that of $1 or $2, and otherwise one, with:
//
//   - place, where it was set up;
//   - differs, by what it is another configuration's; NULL where it is the same one from another place;
//   - lacking, what of it a set-up from $1 would take away; NULL if nothing.
//
//go:embed installation.sql
var InstallationElsewhere string
