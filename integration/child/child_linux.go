package child

import "syscall"

// dieWithUs makes the kernel end a child when the thread that started it ends.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
