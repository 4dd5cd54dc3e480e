package draft

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// surroundings are properties of the server rather than of the database.
type surroundings struct {
	database, walLevel string
	roles, slots       []string
	// superuser says that the role may do all that setup does.
	superuser bool
}

func lookAround(ctx context.Context, tx pgx.Tx) (s surroundings, err error) {
	const query = `SELECT current_database()::text, current_setting('wal_level'),
		coalesce((SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user), false),
		ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname ~ 'kproxy' ORDER BY 1),
		ARRAY(SELECT slot_name::text FROM pg_replication_slots WHERE slot_name ~ 'kproxy' ORDER BY 1)`
	if err := tx.QueryRow(ctx, query).Scan(&s.database, &s.walLevel, &s.superuser, &s.roles, &s.slots); err != nil {
		return s, fmt.Errorf("reading about the server: %w", err)
	}
	return s, nil
}

// names are those of what setup and serve will make on the server. Roles and slots belong to all of its
// databases: what is there already may be another database's, unless the password of the
// role lies beside the configuration.
type names struct{ owner, reader, slot string }

var outside = regexp.MustCompile(`[^a-z0-9_]+`)

// choose uses the plain names if they are free, else names that contain the database's.
func (s surroundings) choose(out string, exists func(path string) bool) names {
	part := strings.Trim(outside.ReplaceAllString(strings.ToLower(s.database), "_"), "_")
	if len(part) > 40 {
		part = part[:40]
	}
	for i := 0; ; i++ {
		prefix := "kproxy"
		if i > 0 {
			prefix += "_" + part
		}
		if i > 1 {
			prefix += "_" + strconv.Itoa(i)
		}
		n := names{owner: prefix + "_owner", reader: prefix + "_reader", slot: prefix}
		own := exists(passwordFile(out, n.owner)) && exists(passwordFile(out, n.reader))
		taken := slices.Contains(s.roles, n.owner) || slices.Contains(s.roles, n.reader) || slices.Contains(s.slots, n.slot)
		if own || !taken {
			return n
		}
	}
}

// passwordFile is where the password of a role stands.
func passwordFile(out, role string) string {
	return filepath.Join(filepath.Dir(out), role+".password")
}
