package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// writing changes a table that holds some rows, and has the changes written.
func writing(change func(of *table, to *statements) error) func(context.Context, *session, *table) (any, error) {
	return func(ctx context.Context, s *session, of *table) (any, error) {
		for id := range 12 {
			if err := of.insert(of.layout.visitOf(id+1, 20+10*(id%3), map[string]string{"sex": []string{"f", "m"}[id%2]})); err != nil {
				return nil, err
			}
		}
		nowhere := &statements{send: func(chunk) error { return nil }}
		if err := errors.Join(of.endTransaction(nil), of.write(ctx, nowhere, 0), nowhere.close()); err != nil {
			return nil, err
		}
		of.written()
		if packed := packedOf(of); packed != nil {
			packed.sections.inTurn()
		}
		of.beginTransaction(200)
		err := within(ctx, s, func(tx pgx.Tx) error {
			to := sendTo(ctx, tx)
			if err := change(of, to); err != nil {
				return err
			}
			if err := of.endTransaction(func() error { return of.spill(ctx, to) }); err != nil {
				return err
			}
			if err := of.write(ctx, to, 0); err != nil {
				return err
			}
			return to.close()
		})
		seen := fmt.Sprintf("changed %t, spilled %t, %d rows, %d bytes, %d pending, %d deleted", of.pending.dirty, of.pending.spilled, of.pending.count, of.pending.bytes, len(of.pending.rows), len(of.pending.deleted))
		of.written()
		status := of.mode.status()
		return fmt.Sprintf("%s; then changed %t, spilled %t, %d rows; %d records, %d withheld, %d classes", seen, of.pending.dirty, of.pending.spilled, of.pending.count, status.Records, status.Withheld, status.Classes), err
	}
}

// inTurn has nothing drawn at random.
func (s *sections) inTurn() {
	turn := 0
	s.shuffle = func(int, func(i, j int)) {}
	s.draw = func(n int) int {
		turn++
		return turn % n
	}
}

// withoutArguments leaves the statements' arguments out, where some of the classes that are written
// are drawn at random, or secrets and times are written.
func withoutArguments(log string) string {
	lines := strings.Split(log, "\n")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, " <- ")
	}
	return strings.Join(lines, "\n")
}

// TestStatementsOfChanges follows what is written of changes, statement by statement: rows that
// come, change and go, with all of their values or with some, and what the release shows of them.
func TestStatementsOfChanges(t *testing.T) {
	t.Parallel()
	ofParts := visitsPolicy("visits", "rounded-partition", "", homes, persons)
	guarded := sizeOnly(3)
	guarded.Suppression, guarded.Updates = 0, catalog.Updates{Mode: catalog.Guarded}
	insert := func(of *table, _ *statements) error { return of.insert(of.layout.visitOf(20, 30, nil)) }
	remove := func(of *table, _ *statements) error { return of.delete(of.layout.visitOf(2, 0, nil)) }
	update := func(of *table, _ *statements) error {
		return of.update(of.layout.visitOf(3, 0, nil), of.layout.visitOf(3, 50, map[string]string{"illness": "gout"}))
	}
	kept := func(of *table, _ *statements) error {
		for _, id := range []int{3, 4} {
			row := of.layout.visitOf(id, 50, nil)
			row[of.layout.columns.index("illness")], row[of.layout.columns.index("job")] = value{kept: true}, value{kept: true}
			if err := of.update(of.layout.visitOf(id, 0, nil), row); err != nil {
				return err
			}
		}
		return nil
	}
	keptAll := func(of *table, _ *statements) error {
		row := of.layout.visitOf(5, 0, nil)
		for i := range row {
			row[i] = value{kept: true}
		}
		return of.update(of.layout.visitOf(5, 0, nil), row)
	}
	anotherKey := func(of *table, _ *statements) error {
		return of.update(of.layout.visitOf(6, 0, nil), of.layout.visitOf(60, 40, nil))
	}
	all := func(of *table, to *statements) error {
		return errors.Join(insert(of, to), remove(of, to), kept(of, to))
	}
	early := func(of *table, to *statements) error {
		return errors.Join(insert(of, to), of.spill(context.Background(), to), update(of, to))
	}
	emptied := func(of *table, to *statements) error { of.truncate(); return insert(of, to) }
	unchanged := func(*table, *statements) error { return nil }
	var conversations []conversation
	for _, kind := range []struct {
		name   string
		policy catalog.TablePolicy
		tidy   func(string) string
	}{{"packed", sizeOnly(3), inOrder}, {"parts", ofParts, withoutArguments}, {"guarded", guarded, withoutArguments}} {
		for i, change := range []struct {
			name string
			do   func(*table, *statements) error
		}{
			{"everything", all},
			{"inserted", insert},
			{"deleted", remove},
			{"updated", update},
			{"updated in part", kept},
			{"updated, with nothing sent", keptAll},
			{"another key", anotherKey},
			{"written early", early},
			{"truncated", emptied},
			{"unchanged", unchanged},
		} {
			conversations = append(conversations, conversation{
				name: kind.name + ", " + change.name, do: writing(change.do), policy: &kind.policy, whole: i == 0 || change.name == "written early", tidy: kind.tidy, once: i > 0,
				answers: []answer{{words: "DELETE FROM", changes: 1}},
			})
		}
	}
	holdConversations(t, "write.txt", conversations)
}
