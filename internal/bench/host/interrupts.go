package host

import (
	"os"
	"os/signal"
	"syscall"
)

// Interrupts are the signals on which a measurement ends in order, so that its servers end
// and what was measured is written. The end of its terminal is one, but where nohup or the
// like has had it ignored.
func Interrupts() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
