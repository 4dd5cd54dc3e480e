package torture

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/catalog/provision/provisiontest"
)

// bench is a database of its own with protected tables, on a server that faults may
// restart.
type bench struct {
	server   *seat
	store    *seat // has store and release: server, or another one with a database of the same name
	database string
	plan     *plan
	admin    *pgx.Conn
	oracle   *oracle
	tables   []catalog.Publication
}

// serverSettings have deadlocks found soon, and dead clients noticed.
var serverSettings = map[string]string{
	"deadlock_timeout": "50ms", "max_connections": "80", "max_wal_senders": "20", "max_replication_slots": "20",
	"log_min_messages": "fatal", "max_wal_size": "96MB", "min_wal_size": "32MB", "wal_keep_size": "64MB",
}

func (b *bench) owner() string     { return "owner_" + b.database }
func (b *bench) reader() string    { return "reader_" + b.database }
func (b *bench) slot() string      { return "slot_" + b.database }
func (b *bench) sourceDSN() string { return b.server.DSN(b.database) }
func (b *bench) readerDSN() string { return b.login(b.reader(), b.store.Port()) }

// isApart says that store and release are on another server than the source.
func (b *bench) isApart() bool { return b.store != b.server }

// sourceRole is who reads the source and replicates.
func (b *bench) sourceRole() string {
	if b.isApart() {
		return "source_" + b.database
	}
	return b.owner()
}

const publication = "kproxy"

// login is the connection URL of one of the roles, whose password is its name.
func (b *bench) login(role string, port int) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(role, role), Host: fmt.Sprintf("127.0.0.1:%d", port),
		Path: "/" + b.database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// newBench makes database, tables, roles, store, publication and oracle, and fills the
// tables.
func newBench(ctx context.Context, server, store *seat, p *plan) (b *bench, err error) {
	b = &bench{server: server, store: store, database: p.database(), plan: p}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("making the bench: %w", err), b.close())
		}
	}()
	if err := b.maintain(ctx, "DROP DATABASE IF EXISTS "+b.database+" WITH (FORCE)", "CREATE DATABASE "+b.database); err != nil {
		return b, err
	}
	if b.admin, err = connect(ctx, server.DSN(b.database)); err != nil {
		return b, err
	}
	policy := catalog.Policy{}
	for _, s := range p.shapes {
		if _, err := b.admin.PgConn().Exec(ctx, s.setup).ReadAll(); err != nil {
			return b, fmt.Errorf("making %s: %w", s.name, err)
		}
		policy.Tables = append(policy.Tables, s.policy)
		if s.table() == linked().Root {
			policy.People = append(policy.People, linked())
		}
	}
	if err := b.provide(ctx, policy); err != nil {
		return b, err
	}
	if b.tables, err = publications(ctx, b.admin, b.sourceRole(), p.shapes); err != nil {
		return b, err
	}
	if !p.moves() { // else its slot would be lost
		if b.oracle, err = newOracle(ctx, b.admin, server.DSN(b.database), "oracle_"+b.database, p.shapes); err != nil {
			return b, err
		}
		b.oracle.messages = server.Version().Major >= 14
	}
	for i, s := range p.drawn() {
		filling := newScript(p.seed, -2-i, p.shapes)
		for done := 0; done < p.rows; done += 50 {
			rows := make([][]datum, 50)
			for j := range rows {
				rows[j] = s.row(filling.rng)
			}
			for _, statement := range filling.add(s, rows...) {
				if _, err := b.admin.PgConn().Exec(ctx, statement.sql).ReadAll(); err != nil {
					return b, fmt.Errorf("filling %s: %w", s.name, err)
				}
			}
		}
	}
	return b, nil
}

// provide makes roles, store and publication.
func (b *bench) provide(ctx context.Context, policy catalog.Policy) error {
	login := func(role string) provision.Login { return provision.Login{Name: role, Password: role} }
	input := provision.Input{Policy: policy, Publication: publication, Owner: login(b.sourceRole()), Reader: login(b.reader())}
	if b.isApart() {
		input.Side = provision.SourceSide
	}
	if err := provisiontest.Apply(ctx, b.admin, input); err != nil || !b.isApart() {
		return err
	}
	admin, err := connect(ctx, b.store.DSN(b.database))
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	input.Side, input.Owner = provision.ReleaseSide, login(b.owner())
	if err := provisiontest.Apply(ctx, admin, input); err != nil {
		return err
	}
	relations, err := inspect.Relations(ctx, b.admin, b.sourceRole())
	if err != nil {
		return err
	}
	types, err := inspect.MirroredTypes(ctx, b.admin, policy, relations)
	if err != nil {
		return err
	}
	for _, t := range types {
		statements, _, err := t.Missing(ctx, admin)
		if err != nil {
			return err
		}
		for _, sql := range statements {
			if _, err := admin.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
	}
	return nil
}

// maintain runs statements on the maintenance database of each server.
func (b *bench) maintain(ctx context.Context, statements ...string) error {
	for _, server := range slices.Compact([]*seat{b.server, b.store}) {
		conn, err := connect(ctx, server.DSN("postgres"))
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
		for _, sql := range statements {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
	}
	return nil
}

// dropSlots ends the users of the database's slots and drops those without.
const dropSlots = `SELECT CASE WHEN active THEN pg_terminate_backend(active_pid)
	ELSE pg_drop_replication_slot(slot_name) IS NOT NULL END FROM pg_replication_slots WHERE database = '%s'`

// close drops what the bench has made on the server.
func (b *bench) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if b.oracle != nil {
		b.oracle.close(ctx)
	}
	if b.admin != nil {
		_ = b.admin.Close(ctx)
	}
	var err error
	for range 100 {
		err = b.maintain(ctx, fmt.Sprintf(dropSlots, b.database), "DROP DATABASE IF EXISTS "+b.database+" WITH (FORCE)",
			"DROP ROLE IF EXISTS "+b.owner(), "DROP ROLE IF EXISTS "+b.sourceRole(), "DROP ROLE IF EXISTS "+b.reader())
		if err == nil {
			return nil
		}
		pause(ctx, 50*time.Millisecond)
	}
	return fmt.Errorf("dropping %s: %w", b.database, err)
}

// columns are those that the store must keep of a table.
func stored(p catalog.Publication) []string {
	var names []string
	for _, c := range p.Relation.Columns {
		if p.Relation.KeyRepeats && !c.Generated {
			names = append(names, c.Name)
			continue
		}
		policy, named := p.Policy.Column(c.Name)
		isKey := false
		for _, key := range p.Relation.Key {
			isKey = isKey || key == c.Name
		}
		if isKey || named && policy.Role != catalog.Identifying || c.Name == p.Policy.Subject {
			names = append(names, c.Name)
		}
	}
	return names
}

// quoted joins names.
func quoted(names []string, prefix string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = prefix + catalog.QuoteIdentifier(name)
	}
	return strings.Join(list, ", ")
}

// textRows runs a query and gives its rows in text form.
func textRows(ctx context.Context, conn *pgx.Conn, sql string) ([][]datum, error) {
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	var rows [][]datum
	for _, values := range results[0].Rows {
		row := make([]datum, len(values))
		for i, v := range values {
			row[i] = datum{text: string(v), null: v == nil}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
