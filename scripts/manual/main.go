// Command manual writes the manual page and the shell completions for packages into a directory: contextinfinity.1,
// contextinfinity.bash, _contextinfinity, contextinfinity.fish.
//
//	go run ./scripts/manual -version 1.2.3 -epoch 1790000000 DIRECTORY
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"contextinfinity/backend/cli"
)

func main() {
	version := flag.String("version", "unknown", "the program's version")
	epoch := flag.Int64("epoch", 0, "seconds since 1970: the page's date")
	flag.Parse()
	if err := write(flag.Arg(0), *version, time.Unix(*epoch, 0)); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(dir, version string, date time.Time) error {
	err := writeFile(filepath.Join(dir, "contextinfinity.1"), func(f *os.File) error { return cli.WriteManual(f, version, date) })
	for shell, name := range map[string]string{"bash": "contextinfinity.bash", "zsh": "_contextinfinity", "fish": "contextinfinity.fish"} {
		if err == nil {
			err = writeFile(filepath.Join(dir, name), func(f *os.File) error { return completion(shell, f) })
		}
	}
	return err
}

func completion(shell string, f *os.File) error {
	if code := cli.Run(context.Background(), cli.App{Out: f, Err: os.Stderr}, []string{"completion", shell}); code != 0 {
		return fmt.Errorf("completion %s ended with %d", shell, code)
	}
	return nil
}

func writeFile(path string, fill func(*os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
