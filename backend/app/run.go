package app

import (
	"context"
	"fmt"
	"os"

	"contextinfinity/backend/cli"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/internal/heap"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/tools/builtin"
)

// version is set by the linker when the program is built (scripts/build).
var version = "unknown"

// commit is set together with version if the program is built in a Git checkout.
var commit string

// Frontend is what main has: it embeds files, because Go only embeds those below a package, and shows the window.
type Frontend struct {
	Icon []byte
	Show func(desktop.Window) error // returns when the window's work has ended
}

// Run runs the program: a verb on the command line, or the window. It returns the exit code of the process.
func Run(args []string, front Frontend) int {
	if readsDocument(args) {
		return documents.ReadFile(os.Stdin, os.Stdout)
	}
	if builtin.RunsCommand(args) {
		return builtin.RunCommand(args, os.Stderr)
	}
	opts, ok := cli.WindowOptions(args, os.Getenv(handoverMark) != "")
	if !ok {
		heap.ForACommand()
		return cli.Run(context.Background(), commandLine(), args)
	}
	if !desktop.HasDisplay() {
		fmt.Fprintln(os.Stderr, "There is no display to open a window on. To chat in the terminal: contextinfinity chat")
		return 1
	}
	h := takeHandover(&opts)
	secrets.HideEnvironment()
	return exitCode(front.show(window(opts, h, front.Icon)))
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}
