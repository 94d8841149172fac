package cli

import (
	"bytes"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
)

type completionReply struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

func (c *call) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	cmd := &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "Print a script that completes verbs, flags and ids in a shell",
		Long:  "To use it in bash: source <(contextinfinity completion bash). For other shells, see their manuals.",
		Args:  exactly("SHELL"), ValidArgs: shells,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.run(func(context.Context, []string) (reply, error) {
			script, err := completionScript(cmd.Root(), args[0])
			if err != nil {
				return reply{}, err
			}
			return reply{doc: completionReply{args[0], script}, text: func(o *output) { o.printf("%s", script) }}, nil
		})(cmd, args)
	}
	return cmd
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

func (c *call) complete(list func(context.Context, *Services) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	ctx := context.Background()
	s, err := c.app.Open(ctx, c.options(true, silent{}))
	if err != nil {
		return nil, none
	}
	defer func() { _ = s.Close() }()
	out, err := list(ctx, s)
	if err != nil {
		return nil, none
	}
	return out, none
}

func candidate(id, about string) string { return id + "\t" + clip(about, 50) }

// completeSession completes session ids, as the first argument or a flag's value.
func (c *call) completeSession(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() != "send" && cmd.Name() != "chat" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(func(ctx context.Context, s *Services) ([]string, error) {
		all, err := s.Sessions.Sessions(ctx, chat.SessionQuery{})
		return lists.Map(all, func(summary chat.SessionSummary) string { return candidate(string(summary.ID), titleOf(summary.Title)) }), err
	})
}

// completeBranch completes sessions first, then the branches of the chosen one.
func (c *call) completeBranch(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return c.completeSession(cmd, args, typed)
	}
	return c.complete(func(ctx context.Context, s *Services) ([]string, error) {
		session, err := s.session(ctx, args[0])
		if err != nil || len(args) > 1 {
			return nil, err
		}
		all, err := s.Sessions.Branches(ctx, session.ID)
		return lists.Map(all, func(b chat.BranchSummary) string { return candidate(string(b.ID), b.Label) }), err
	})
}

// completeKey completes the names of stored keys.
func (c *call) completeKey(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := c.app.OpenSetup(cmd.Context(), c.options(true, silent{}))
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := lists.Map(keyInfos(s), func(k KeyInfo) string { return k.Provider })
	return names, cobra.ShellCompDirectiveNoFileComp
}

func completeSetting(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lists.Map(config.Settings(), func(s config.SettingInfo) string { return candidate(s.Key, s.Label) }), cobra.ShellCompDirectiveNoFileComp
}
