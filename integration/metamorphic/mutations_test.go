package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// mutation is a hidden change.
type mutation struct {
	name string
	// file is the concept that it belongs to.
	file string
	sql  string
	// held says that its session stays open, with what it has begun.
	held bool
}

// mutations are those of all files, in their order: later ones may rest on earlier ones.
func mutations() ([]mutation, error) {
	files, err := filepath.Glob("testdata/mutations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []mutation
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for paragraph := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
			first, sql, _ := strings.Cut(paragraph, "\n")
			name, titled := strings.CutPrefix(first, "-- ")
			if !titled || sql == "" {
				return nil, fmt.Errorf("%s: a mutation without title or statement:\n%s", file, paragraph)
			}
			name, held := strings.CutPrefix(name, "held: ")
			all = append(all, mutation{name: name, file: filepath.Base(file), sql: sql, held: held})
		}
	}
	return all, nil
}

// apply changes the world; catchUp has the program know.
func (m mutation) apply(ctx context.Context, w *world) error {
	conn, err := pgx.Connect(ctx, w.admin()+"&statement_timeout=60s")
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, m.sql).ReadAll()
	if m.held {
		w.held = append(w.held, conn)
	} else {
		err = errors.Join(err, conn.Close(ctx))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return nil
}
