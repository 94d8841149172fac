// ContextInfinity gives conversations with language models unlimited history.
// With a verb it is a command line, without one it opens its window.
package main

import (
	"context"
	"embed"
	"fmt"
	"os"

	"contextinfinity/backend/cli"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/secrets"
)

//go:embed all:frontend/dist
var assets embed.FS

//go:embed build/appicon.png
var icon []byte

// version is set when the program is built.
var version = "unknown"

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if generatingBindings {
		return exitCode(openWindow(emptyWindow()))
	}
	if readsPDF(args) {
		return documents.ReadPDF(os.Stdin, os.Stdout)
	}
	opts, ok := cli.WindowOptions(args)
	if !ok {
		return cli.Run(context.Background(), commandLine(), args)
	}
	if !desktop.HasDisplay() {
		fmt.Fprintln(os.Stderr, "There is no display to open a window on. Talk in the terminal with: contextinfinity chat")
		return 1
	}
	secrets.HideEnvironment()
	return exitCode(openWindow(window(opts)))
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}
