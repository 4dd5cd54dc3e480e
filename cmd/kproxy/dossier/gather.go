package dossier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/build"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/verify"
	ksync "github.com/kproxy/kproxy/sync"
)

// Options of a dossier.
type Options struct {
	// Threshold is a probability, above 0 and at most 1.
	Threshold float64
	// Seed draws the targets of the simulated attack.
	Seed uint64
	// Progress, if not nil, is told what is being measured.
	Progress func(what string)
}

// Gather measures the releases of all tables of a configuration, as the owner, on one snapshot.
func Gather(ctx context.Context, c *config.Config, o Options) (*Dossier, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	publications, _, err := upstream.Publications(ctx, conn, c)
	if err != nil {
		return nil, err
	}
	g := gathering{ctx: ctx, options: o, dossier: &Dossier{
		Format: Format, At: time.Now().UTC().Truncate(time.Second), Version: build.This().Version, Database: c.Database, Threshold: o.Threshold,
		People: []People{}, Clauses: clauses, Limits: slices.Clone(limits),
	}}
	if err := g.readPast(conn, c.Policy); err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("beginning to measure: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	g.tx = tx
	return g.dossier, g.gather(c.Policy, publications)
}

// gathering is a dossier in the making.
type gathering struct {
	ctx     context.Context
	tx      pgx.Tx
	options Options
	dossier *Dossier
	proofs  map[catalog.Name]history.Proof
	losses  map[catalog.Name][]history.Loss
}

// readPast reads what was recorded, and wants the policy to be the one in force. What was never recorded has no
// table, and the error of that would end a transaction.
func (g *gathering) readPast(on *pgx.Conn, policy catalog.Policy) (err error) {
	if g.dossier.Policies, err = readPolicies(g.ctx, on); err != nil {
		return err
	}
	own, err := ksync.NewPolicy(policy, "")
	if err != nil {
		return err
	}
	for _, p := range g.dossier.Policies[:min(1, len(g.dossier.Policies))] {
		if err := upstream.CheckInForce(own, p.Number, p.Fingerprint); err != nil {
			return err
		}
	}
	if g.proofs, err = history.LastProofs(g.ctx, on); err != nil {
		return err
	}
	g.losses = make(map[catalog.Name][]history.Loss)
	for _, t := range policy.Tables {
		if g.losses[t.Table], err = history.LossHistory(g.ctx, on, t.Table); err != nil {
			return err
		}
	}
	return nil
}

func (g *gathering) gather(policy catalog.Policy, publications []catalog.Publication) error {
	for _, kind := range policy.People {
		g.dossier.People = append(g.dossier.People, People{Kind: kind.Kind, Tables: catalog.Texts(kind.Names()), Promise: kind.Explain()})
	}
	publications = slices.DeleteFunc(publications, func(p catalog.Publication) bool { return p.Policy.IsMirrored() })
	for _, name := range policy.Mirrored() {
		g.dossier.Limits = append(g.dossier.Limits, name.String()+": is mirrored: it is not protected, and readers have the rows of the listed columns as they are")
	}
	for _, t := range policy.Protecting().Tables {
		i := slices.IndexFunc(publications, func(p catalog.Publication) bool { return p.Policy.Table == t.Table })
		if i < 0 {
			return fmt.Errorf("table %s does not fit its policy; 'kproxy check' says why", t.Table)
		}
		table, err := g.table(publications[i])
		if err != nil {
			return fmt.Errorf("measuring %s: %w", t.Table, err)
		}
		g.dossier.Tables = append(g.dossier.Tables, table)
	}
	g.options.Progress("counting risks")
	risks, err := verify.MeasureRisks(g.ctx, g.tx, publications, g.options.Threshold)
	if err != nil {
		return err
	}
	for i := range g.dossier.Tables {
		for _, r := range risks {
			if r.Table == g.dossier.Tables[i].Name {
				g.dossier.Tables[i].Risks = append(g.dossier.Tables[i].Risks, r)
			}
		}
	}
	if err := g.audienceRisks(policy.Audiences, publications); err != nil {
		return err
	}
	for i := range g.dossier.Tables {
		g.limit(&g.dossier.Tables[i])
		g.limitAudiences(&g.dossier.Tables[i])
	}
	return nil
}

// table gathers all about a table but its risks.
func (g *gathering) table(p catalog.Publication) (Table, error) {
	name := p.Policy.Table
	g.options.Progress("measuring " + name.String())
	described := p.Describe()
	now, err := status.ReadTable(g.ctx, g.tx, p.Policy)
	if err != nil {
		return Table{}, err
	}
	t := Table{
		Name: name.String(), State: now.State, Updates: p.Policy.Updates.Mode.String(), GivesAway: p.Policy.Updates.Mode.GivesAway(), Method: p.Policy.Method,
		Constraints: described.Constraints, K: described.K, Figures: *now.Figures, Dropped: []string{}, Risks: []verify.Risk{}, Versions: []Generation{},
	}
	if described.OffBy != catalog.Unbounded {
		t.OffBy = &described.OffBy
	}
	for _, c := range p.Policy.ByRole(catalog.Identifying) {
		t.Dropped = append(t.Dropped, c.Name)
	}
	shown, err := history.ShownGeneration(g.ctx, g.tx, name)
	if err != nil {
		return t, err
	}
	var losses *history.Losses
	if shown > 0 {
		if losses, err = history.MeasureLoss(g.ctx, g.tx, p, shown); err != nil {
			return t, err
		}
		g.options.Progress("attacking " + name.String())
		if t.Attack, err = history.LinkRelease(g.ctx, g.tx, p, shown, g.options.Seed); err != nil {
			return t, err
		}
	}
	if p.IsSealed() {
		g.dossier.Limits = append(g.dossier.Limits, t.Name+": its private store is sealed: what the release loses, which records are unique in the source and what a simulated attack finds are not measured")
	}
	t.describe(p, described, losses)
	if proof, proved := g.proofs[name]; proved {
		t.Proof = proof.State(shown)
	}
	t.Versions = versions(g.losses[name])
	for _, a := range now.Audiences {
		one, err := g.audience(p, a, shown)
		if err != nil {
			return t, fmt.Errorf("for audience %s: %w", a.Name, err)
		}
		t.Audiences = append(t.Audiences, one)
	}
	return t, nil
}

// describe lists the columns.
func (t *Table) describe(p catalog.Publication, described catalog.Description, losses *history.Losses) {
	if losses != nil {
		t.Loss, t.LossRecords = &losses.Whole, losses.Records
	}
	t.Columns = columnsOf(p, described, losses)
}

// columnsOf are those that a publication shows, with their losses where these were measured.
func columnsOf(p catalog.Publication, described catalog.Description, losses *history.Losses) (columns []Column) {
	for i, c := range described.Columns {
		column := Column{Name: c.Name, Type: c.Type, Role: c.Role, Form: c.Form, Hierarchy: c.Hierarchy, Constraints: c.Constraints}
		if losses != nil && p.Columns[i].Generalized() {
			loss := losses.Columns[p.Columns[i].Source]
			column.Loss = &loss
		}
		columns = append(columns, column)
	}
	return columns
}

// limit adds the limits of a table's release.
func (g *gathering) limit(t *Table) {
	say := func(format string, arguments ...any) {
		g.dossier.Limits = append(g.dossier.Limits, t.Name+": "+fmt.Sprintf(format, arguments...))
	}
	if t.Updates == catalog.Immediate.String() {
		say("readers see each change at once: %s", t.GivesAway)
	}
	for _, r := range t.Risks {
		if r.Highest() > g.dossier.Threshold {
			say("a person is identified with a probability of up to %.3g, above the threshold of %.3g: it takes k = %d", r.Highest(), g.dossier.Threshold, metric.LeastK(g.dossier.Threshold))
		}
	}
	if t.OffBy == nil {
		say("nothing bounds how far the sum of kproxy_weight is from the number of rows that stand for somebody; it is off by %d now", t.Untold)
	}
	if t.Attack != nil && int64(t.Attack.Records) < t.Records-t.Withheld {
		say("the simulated attack saw %d of %d published records: a sample of whole classes, of which fewer rows fit than there are", t.Attack.Records, t.Records-t.Withheld)
	}
	switch {
	case t.Proof == nil:
		say("its release has never been verified")
	case !t.Proof.Passed:
		say("the last verification found that the release does not keep its promises")
	case t.Proof.Earlier:
		say("the last verification was of an earlier release")
	}
}

// readPolicies reads the policies that were in force, the newest first.
func readPolicies(ctx context.Context, on upstream.Querier) ([]Policy, error) {
	rows, _ := on.Query(ctx, "SELECT number, fingerprint, accepted_at, place FROM kproxy_store.policy ORDER BY number DESC") // the rows carry its error
	policies, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Policy])
	if upstream.MissingStore(err) {
		return nil, fmt.Errorf("there is no private store: %w", upstream.Unprepared(err))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the policies: %w", err)
	}
	return policies, nil
}

// versions sums up the recorded losses by generation.
func versions(losses []history.Loss) []Generation {
	found := []Generation{}
	for _, l := range losses {
		last := len(found) - 1
		if last < 0 || found[last].Number != l.Generation {
			found = append(found, Generation{Number: l.Generation, First: l.At.UTC()})
			last++
		}
		found[last].Last, found[last].Loss = l.At.UTC(), l.Loss
	}
	return found
}

// ErrThreshold says that a threshold is no probability.
var ErrThreshold = errors.New("a threshold is a probability above 0 and at most 1, such as 0.09")

// CheckThreshold wants a probability.
func CheckThreshold(threshold float64) error {
	if !(threshold > 0 && threshold <= 1) {
		return ErrThreshold
	}
	return nil
}
