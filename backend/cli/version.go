package cli

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"contextinfinity/backend/updates"
)

type versionReply struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // unknown for a build without git
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	// Update is set with --check.
	Update *updateReply `json:"update,omitempty"`
}

type updateReply struct {
	Verdict string `json:"verdict"` // newer, current, unknown
	Newest  string `json:"newest"`
	Page    string `json:"page"`
}

func (c *call) versionCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(),
		Long: "With --check, the release feed (updates.url) is asked once for a newer version; nothing else is sent, and nothing is downloaded or installed.",
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask the release feed (updates.url) for a newer version")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		doc := versionReply{Version: c.app.Version, Commit: c.app.Commit, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
		if check {
			found, err := c.checkForUpdates(ctx)
			if err != nil {
				return reply{}, err
			}
			doc.Update = &updateReply{string(found.Verdict), found.Newest, found.Page}
		}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func (c *call) checkForUpdates(ctx context.Context) (updates.Result, error) {
	s, err := c.setup(ctx)
	if err != nil {
		return updates.Result{}, err
	}
	return s.Updates.Check(ctx)
}

func (v versionReply) print(o *output) {
	o.printf("contextinfinity %s", v.Version)
	if v.Commit != "" {
		o.printf(" (%s)", v.Commit)
	}
	o.printf("\n")
	if v.Update == nil {
		return
	}
	switch updates.Verdict(v.Update.Verdict) {
	case updates.VerdictNewer:
		o.printf("Version %s is available.\n", v.Update.Newest)
	case updates.VerdictCurrent:
		o.printf("There is no newer version (the newest release is %s).\n", v.Update.Newest)
	case updates.VerdictUnknown:
		o.printf("The newest release is %s. The version of this copy is not known.\n", v.Update.Newest)
	}
	if v.Update.Page != "" {
		o.printf("%s\n", v.Update.Page)
	}
}
