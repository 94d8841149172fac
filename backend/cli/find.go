package cli

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

func findVerbs() []verb {
	return []verb{
		{
			use:   "find TEXT --session SESSION",
			short: "Find a text in the turns of a branch",
			long: `Looks for exactly TEXT, ignoring case, in the turns of a branch and in those before the fork.
To search all sessions by words and by similarity, use search.`,
			flags: []flag{
				nameFlag("session", "the session to search"),
				branchFlag,
				boolFlag("case", "distinguish upper and lower case"),
			},
			prepare: func(_ context.Context, r *run) error {
				switch {
				case strings.TrimSpace(r.args[0]) == "":
					return usagef("TEXT is empty.")
				case !r.given("session"):
					const hint = "contextinfinity sessions lists them; contextinfinity search searches all of them"
					return usageHint(hint, "--session SESSION is missing.")
				}
				return nil
			},
			opens: reads,
			do:    findText,
		},
		shows(verb{
			use:   "knows",
			short: "List what is remembered in all sessions: pinned facts, instructions, summaries",
			long: `Lists, with its origin, what requests contain besides the conversation itself: for the active branch
of every session, and the facts and instructions of projects. To change it, use unpin, pins --accept and
--dismiss, delete, and projects set. A summary is made from the conversation: to correct it, pin the right
fact or delete the turn.`,
			flags: []flag{
				choiceFlag("kind", "", lists.Map(chat.KnownKinds, func(k chat.KnownKind) string { return string(k) }),
					"only: pin, suggestion, instructions or summary"),
				textFlag("text", "only what contains this"),
				numberFlag("limit", 1, 20, "at most this many of a kind"),
				numberFlag("offset", 0, 0, "skip this many of each kind first"),
			},
		}, known, knownReply),
	}
}

func findText(ctx context.Context, r *run) (reply, error) {
	hits, err := r.s.Store.Find(ctx, chat.FindQuery{Branch: r.branch.ID, Text: r.args[0], MatchCase: r.on("case")})
	rows := lists.Map(hits.Turns, func(h chat.FoundTurn) fields {
		return fields{{"turn_id", h.Turn}, {"turn_seq", h.Seq}, {"count", h.Count}, {"first", h.First}}
	})
	t := tableOf(">TURN||>TIMES|WORDS", hits.Turns, func(h chat.FoundTurn) []any {
		return []any{"#" + decimal(h.Seq), h.Turn, count(h.Count), clip(h.First, 90)}
	})
	doc := append(r.onBranch("text", r.args[0]), field{"total", hits.Total}, field{"turns", rows})
	return listed(doc, "Nothing found.", t), err
}

// knownGroup is what is known of one kind.
type knownGroup struct {
	Kind  chat.KnownKind `json:"kind"`
	Total int            `json:"total"`
	Items []chat.Known   `json:"items"`
}

// knownTitles are the headings of the kinds.
var knownTitles = map[chat.KnownKind]string{
	chat.KnownPin:          "Pinned facts",
	chat.KnownSuggestion:   "Standing instructions, suggested",
	chat.KnownInstructions: "Instructions of sessions",
	chat.KnownSummary:      "State summaries",
}

func known(ctx context.Context, r *run) ([]knownGroup, error) {
	q := chat.KnownQuery{Text: r.text("text"), Limit: r.number("limit"), Offset: r.number("offset")}
	var groups []knownGroup
	for _, kind := range chat.KnownKinds {
		if only := r.text("kind"); only != "" && string(kind) != only {
			continue
		}
		q.Kind = kind
		items, total, err := r.s.Store.Known(ctx, q)
		if err != nil {
			return nil, err
		}
		groups = append(groups, knownGroup{kind, total, items})
	}
	return groups, nil
}

func knownReply(groups []knownGroup) reply {
	return reply{doc: fields{{"known", groups}}, text: func(o *output) {
		o.printIf(!slices.ContainsFunc(groups, func(g knownGroup) bool { return g.Total > 0 }), "Nothing is remembered yet.\n")
		for _, g := range groups {
			if g.Total > 0 {
				o.printf("%s (%s)\n", o.bold(knownTitles[g.Kind]), count(g.Total))
				tableOf("ID|SESSION|TURN|WHEN|TEXT", g.Items, knownCells).print(o)
			}
		}
	}}
}

func knownCells(k chat.Known) []any {
	turn, source := "", titleOf(k.SessionTitle)
	if k.TurnSeq > 0 {
		turn = "#" + decimal(k.TurnSeq)
	}
	if k.Project != "" {
		source = "project " + chat.BoundTitle(k.Project)
	}
	return []any{k.ID, clip(source, 28), turn, k.At, clip(k.Text, 70)}
}
