// Package makes what a person installs: the parts of it that a shell cannot. It is
// called by scripts/package, and is a module of its own, because what it stands on is
// no part of the program.
//
//	package [flags] deb OUT            a .deb of -binary, with -manual's pages
//	package [flags] windows-object OUT the exe's icon, manifest and version, for Go's linker
//	package [flags] nsis DIR           what the installer's script includes, in Wails' words
//	package [flags] macos DIR          ContextInfinity.app, with -binary in it if one is given
//	package [flags] notices OUT        the licences of all that is compiled in
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// inputs are what was made before.
type inputs struct {
	binary  string // the program
	manual  string // directory of scripts/manual
	notices string // file of kind notices
	wails   string // directory of Wails' module
	tags    string // build tags, of notices
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
