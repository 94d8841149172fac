package cli

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"
)

type versionReply struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (c *call) versionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print the version", Args: exactly()}
	cmd.RunE = c.run(func(context.Context, []string) (reply, error) {
		doc := versionReply{c.app.Version, c.app.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH}
		return reply{doc: doc, text: func(o *output) {
			o.printf("contextinfinity %s", doc.Version)
			if doc.Commit != "" {
				o.printf(" (%s)", doc.Commit)
			}
			o.printf("\n")
		}}, nil
	})
	return cmd
}
