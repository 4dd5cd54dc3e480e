package torture

import "syscall"

// dieWithTests has the kernel kill a child when the thread that started it ends.
func dieWithTests(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
