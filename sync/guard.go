package sync

import (
	"log/slog"

	"github.com/kproxy/kproxy/internal/crash"
)

// guard turns a panic into an error that stops replication, so that the tables are
// withdrawn and the operator is told, once: the stream would bring another process to
// the same place. The log says where it was, without the panic's own words and
// without arguments, which could be values of rows.
func guard(logger *slog.Logger, do func() error) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		logger.Error("an internal error stopped replication", crash.Of(cause).Log()...)
		err = &StopError{
			What: "an internal error stopped replication; the log says where it was",
			Fix:  "report this with that line of the log; starting again leads to the same place until the rows that led there are changed and 'kproxy rebuild TABLE' has run",
		}
	}()
	return do()
}
