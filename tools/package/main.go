// Command package creates the parts of installation packages that a shell script cannot. scripts/package runs it. It is
// a separate module, so that its dependencies do not become dependencies of the program.
//
//	package [flags] deb OUT            a .deb of -binary, with -manual's pages
//	package [flags] windows-object OUT the exe's icon, manifest and version, for Go's linker
//	package [flags] nsis DIR           the include files of the installer script, named as by Wails
//	package [flags] macos DIR          ContextInfinity.app, with -binary in it if one is given
//	package [flags] notices OUT        the licences of everything that is compiled in
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// inputs are the results of earlier steps, and settings for some kinds.
type inputs struct {
	binary  string // the program
	manual  string // output directory of scripts/manual
	notices string // output of the kind notices
	wails   string // directory of the Wails module
	tags    string // build tags, for notices
	arch    string
}

var kinds = map[string]func(*project, inputs, string) error{
	"deb": writeDeb, "windows-object": writeWindowsObject, "nsis": writeInstallerParts, "macos": writeBundle, "notices": writeNotices,
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func run() error {
	var in inputs
	root := flag.String("root", "../..", "the repository")
	version := flag.String("version", "", "as scripts/version prints it")
	epoch := flag.Int64("epoch", 0, "seconds since 1970: the date of every file")
	flag.StringVar(&in.binary, "binary", "", "the program")
	flag.StringVar(&in.manual, "manual", "", "directory with the manual page and the completions")
	flag.StringVar(&in.notices, "notices", "", "file with the licences of what is compiled in")
	flag.StringVar(&in.wails, "wails", "", "directory of Wails' module")
	flag.StringVar(&in.tags, "tags", "", "build tags")
	flag.StringVar(&in.arch, "arch", "amd64", "as Go names it")
	flag.Parse()
	make, ok := kinds[flag.Arg(0)]
	if !ok || flag.NArg() != 2 {
		return fmt.Errorf("usage: package [flags] KIND OUT; see the beginning of main.go")
	}
	p, err := readProject(*root, *version, time.Unix(*epoch, 0).UTC())
	if err != nil {
		return err
	}
	return make(p, in, flag.Arg(1))
}
