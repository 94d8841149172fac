// ContextInfinity gives conversations with language models unlimited history.
// With a verb it runs as a command-line program; without one it opens its window.
package main

import (
	"embed"
	"os"

	"contextinfinity/backend/app"
)

//go:embed all:frontend/dist
var assets embed.FS

//go:embed build/appicon.png
var icon []byte

func main() { os.Exit(app.Run(os.Args[1:], app.Frontend{Icon: icon, Show: run})) }
