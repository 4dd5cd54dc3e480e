package sync

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Continues tells, without changing anything, whether Run could go on from where
// the store stands: nil also when nothing has been published yet. The error is a
// *StopError when the operator has to decide. The connection is the owner's;
// system is the server's system identifier.
func Continues(ctx context.Context, conn *pgx.Conn, slot, system string) error {
	s := &session{Syncer: &Syncer{Config: Config{Slot: slot}}, control: conn, system: system}
	if err := s.checkOwnership(ctx); err != nil {
		return err
	}
	// The slot first: a process that applies meanwhile moves the position ahead.
	state, err := s.slotState(ctx)
	if err != nil {
		return err
	}
	if stored, err := s.loadPosition(ctx); err != nil || !stored {
		return err
	}
	return s.checkSlot(state)
}
