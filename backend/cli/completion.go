package cli

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/models"
)

func completionVerb() verb {
	return verb{
		use:   "completion bash|zsh|fish|powershell",
		short: "Print a script that completes verbs, flags and ids in a shell",
		long:  "To use it in bash: source <(contextinfinity completion bash). For other shells, see their manuals.",
		do: func(_ context.Context, r *run) (reply, error) {
			script, err := completionScript(r.cmd.Root(), r.args[0])
			doc := fields{{"shell", r.args[0]}, {"script", script}}
			return reply{doc: doc, text: func(o *output) { o.printf("%s", script) }}, err
		},
	}
}

func completionScript(root *cobra.Command, shell string) (string, error) {
	var out bytes.Buffer
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&out, true)
	case "zsh":
		err = root.GenZshCompletion(&out)
	case "fish":
		err = root.GenFishCompletion(&out, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&out)
	default:
		return "", usageHint("one of: bash, zsh, fish, powershell", "There is no completion for %q.", clip(shell, 40))
	}
	return out.String(), err
}

// noFiles and files say whether the shell completes names of files.
const (
	noFiles = cobra.ShellCompDirectiveNoFileComp
	files   = cobra.ShellCompDirectiveDefault
)

// completeArgument returns the completion of a verb's arguments: each by what its name stands for.
func (c *call) completeArgument(v *verb) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		all := arguments(v.use)
		i := len(args)
		if last := len(all) - 1; last >= 0 && all[last].repeated {
			i = min(i, last)
		}
		if i >= len(all) {
			return nil, noFiles
		}
		switch a := all[i]; a.name {
		case "FILE", "PATH", "FOLDER":
			return nil, files
		case "BRANCH":
			return c.branchCandidates(all, args), noFiles
		case "NAME":
			return c.candidates(v.names), noFiles
		case "KEY":
			return settingCandidates(), noFiles
		case "PROVIDER":
			return c.keyCandidates(), noFiles
		default:
			return append(c.candidates(stored[a.name]), a.values...), noFiles
		}
	}
}

// stored are the candidates for arguments, and for flags, that name something stored.
var stored = map[string]func(context.Context, *Services) ([]string, error){
	"SESSION":   sessionNames,
	"PROJECT":   projectNames,
	"session":   sessionNames,
	"project":   projectNames,
	"assistant": assistantNames,
	"prompt":    promptNames,
}

// completeFlag returns the completion of a flag's value; nil for names of files.
func (c *call) completeFlag(f flag) cobra.CompletionFunc {
	switch {
	case f.values != nil:
		return cobra.FixedCompletions(f.values, noFiles)
	case stored[f.name] != nil:
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return c.candidates(stored[f.name]), noFiles
		}
	}
	return nil
}

// candidates returns what is stored; nothing if it cannot be read.
func (c *call) candidates(list func(context.Context, *Services) ([]string, error)) []string {
	if list == nil {
		return nil
	}
	ctx := context.Background()
	s, err := c.app.Open(ctx, c.options(true, silent{}))
	if err != nil {
		return nil
	}
	defer func() { _ = s.Close() }()
	out, err := list(ctx, s)
	if err != nil {
		return nil
	}
	return out
}

func candidate(id, about string) string { return id + "\t" + clip(about, 50) }

func sessionNames(ctx context.Context, s *Services) ([]string, error) {
	all, err := s.Sessions.Sessions(ctx, chat.SessionQuery{})
	return lists.Map(all, func(x chat.SessionSummary) string { return candidate(string(x.ID), titleOf(x.Title)) }), err
}

func projectNames(ctx context.Context, s *Services) ([]string, error) {
	all, err := s.Projects.Projects(ctx)
	return lists.Map(all, func(p chat.Project) string { return p.Name }), err
}

// branchCandidates are the branches of the session before it.
func (c *call) branchCandidates(all []argument, args []string) []string {
	if all[0].name != "SESSION" {
		return nil
	}
	return c.candidates(func(ctx context.Context, s *Services) ([]string, error) {
		session, err := s.session(ctx, args[0])
		if err != nil {
			return nil, err
		}
		all, err := s.Sessions.Branches(ctx, session.ID)
		return lists.Map(all, func(b chat.BranchSummary) string { return candidate(string(b.ID), b.Label) }), err
	})
}

func (c *call) keyCandidates() []string {
	ctx := context.Background()
	s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
	if err != nil {
		return nil
	}
	return lists.Map(s.Models.KeySources(), func(k models.KeySource) string { return k.Name })
}

func settingCandidates() []string {
	return lists.Map(config.Settings(), func(s config.SettingInfo) string { return candidate(s.Key, s.Label) })
}
