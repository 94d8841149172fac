package cli

import (
	"context"
	"runtime"
	"strings"

	"contextinfinity/backend/updates"
)

func versionVerb() verb {
	return verb{
		use:   "version",
		short: "Print the version",
		long: "With --check, the release feed (updates.url) is asked once for a newer version; nothing else is sent, and " +
			"nothing is downloaded or installed.",
		flags:    []flag{boolFlag("check", "ask the release feed (updates.url) for a newer version")},
		opensFor: opensWith("check", opensSetup, opensNothing),
		do:       showVersion,
	}
}

func showVersion(ctx context.Context, r *run) (reply, error) {
	doc := fields{
		{"version", r.app.Version},
		{"commit,omitempty", r.app.Commit}, // unknown for a build without git
		{"go", runtime.Version()},
		{"os", runtime.GOOS},
		{"arch", runtime.GOARCH},
	}
	lines := []string{"contextinfinity " + r.app.Version}
	if r.app.Commit != "" {
		lines[0] += " (" + r.app.Commit + ")"
	}
	if r.on("check") {
		found, err := r.setup.Updates.Check(ctx)
		if err != nil {
			return reply{}, err
		}
		update := fields{{"verdict", found.Verdict}, {"newest", found.Newest}, {"page", found.Page}}
		doc = append(doc, field{"update", update})
		switch found.Verdict {
		case updates.VerdictNewer:
			lines = append(lines, "Version "+found.Newest+" is available.")
		case updates.VerdictCurrent:
			lines = append(lines, "There is no newer version (the newest release is "+found.Newest+").")
		case updates.VerdictUnknown:
			lines = append(lines, "The newest release is "+found.Newest+". The version of this copy is not known.")
		}
		if found.Page != "" {
			lines = append(lines, found.Page)
		}
	}
	return sentence(doc, "%s", strings.Join(lines, "\n")), nil
}
