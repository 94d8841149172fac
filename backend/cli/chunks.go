package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
)

type chunksFlags struct {
	searchFlags
	text   string
	offset int
	id     string
}

func (c *call) chunksCommand() *cobra.Command {
	var f chunksFlags
	cmd := &cobra.Command{
		Use: "chunks [SESSION]", Short: "List the chunks in memory, or show one and why it was recalled", Args: atMost("SESSION"),
		Long: `A chunk is a passage of a turn or file, as memory searches it. They are listed newest first: of a session's
active branch, or without SESSION of all sessions.
--id CHUNK shows one in full: its origin, which embedders have it, which requests contained it and why.`,
	}
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch, instead of the session's active one")
	cmd.Flags().StringVar(&f.scope, "scope", "", "the scope: lineage, session, project or all")
	cmd.Flags().StringVar(&f.text, "text", "", "only chunks that contain this text")
	cmd.Flags().IntVar(&f.limit, "limit", 50, "at most this many chunks")
	cmd.Flags().IntVar(&f.offset, "offset", 0, "skip this many of the newest")
	cmd.Flags().StringVar(&f.id, "id", "", "show the `CHUNK` with this id")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if len(args) > 0 {
			f.session = args[0]
		}
		switch {
		case f.id != "" && (f.session != "" || f.branch != "" || f.scope != "" || f.text != ""):
			return reply{}, usagef("--id shows one chunk: SESSION, --branch, --scope and --text cannot be combined with it.")
		case f.limit < 1 || f.offset < 0:
			return reply{}, usagef("--limit must be at least 1, and --offset must not be negative.")
		case f.id != "":
			id, err := parseID("chunk", f.id)
			if err == nil && !chat.ValidID(id) {
				err = usageHint("contextinfinity chunks prints it", "--id needs the full id of a chunk.")
			}
			if err != nil {
				return reply{}, err
			}
			return c.reading(ctx, func(s *Services) (reply, error) { return s.chunk(ctx, chat.ChunkID(id)) })
		}
		if err := f.check("chunks"); err != nil {
			return reply{}, err
		}
		return c.reading(ctx, func(s *Services) (reply, error) { return s.chunks(ctx, f) })
	})
	cmd.ValidArgsFunction = c.completeSession
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

type chunksReply struct {
	Scope  chat.Scope `json:"scope"`
	Total  int        `json:"total"`
	Chunks []chunkRow `json:"chunks"`

	filtered bool // by --text
}

type chunkRow struct {
	ID        chat.ChunkID   `json:"chunk_id"`
	TurnID    chat.TurnID    `json:"turn_id"`
	TurnSeq   int64          `json:"turn_seq"`
	SessionID chat.SessionID `json:"session_id"`
	Title     string         `json:"session_title"`
	Role      chat.Role      `json:"role"`
	Type      chat.ChunkType `json:"type"`
	File      string         `json:"file,omitempty"`
	Tokens    int            `json:"tokens"`
	At        time.Time      `json:"at"`
	Text      string         `json:"text"`
}

func chunkRowOf(t chat.ChunkText) chunkRow {
	r := chunkRow{
		ID: t.ID, TurnID: t.SourceTurn, TurnSeq: t.TurnSeq, SessionID: t.SessionID, Title: t.SessionTitle, Role: t.Role, Type: t.Type,
		Tokens: t.Tokens, At: t.At, Text: t.Text,
	}
	if t.File != nil {
		r.File = t.File.Name
	}
	return r
}

func (s *Services) chunks(ctx context.Context, f chunksFlags) (reply, error) {
	within, err := s.within(ctx, f.searchFlags)
	if err != nil {
		return reply{}, err
	}
	page, total, err := s.Store.Chunks(ctx, chat.ChunkQuery{Within: within, Text: f.text, Limit: f.limit, Offset: f.offset})
	doc := chunksReply{Scope: within.Scope, Total: total, Chunks: lists.Map(page, chunkRowOf), filtered: f.text != ""}
	return reply{doc: doc, text: doc.print}, err
}

func (r chunksReply) print(o *output) {
	t := newTable("CHUNK", "TURN", "WHO", "TYPE", "TOKENS", "TEXT").numbers(4)
	for _, row := range r.Chunks {
		t.add(string(row.ID), fmt.Sprintf("#%d", row.TurnSeq), row.who(), string(row.Type), count(row.Tokens), clip(row.Text, 80))
	}
	if len(r.Chunks) > 0 {
		t.print(o)
	}
	switch {
	case r.Total == 0 && r.filtered:
		o.printf("No chunk contains this text.\n")
	case r.Total == 0:
		o.printf("No chunks. Turns are indexed while the window is open, or by contextinfinity reconcile.\n")
	case len(r.Chunks) == 0:
		o.printf("No chunks after --offset: there are %s.\n", count(r.Total))
	default:
		o.printf("%d of %s.\n", len(r.Chunks), plural(r.Total, "chunk"))
	}
}

func (r chunkRow) who() string {
	return cmp.Or(r.File, string(r.Role))
}

// chunkReply is one chunk, its embedders, and the requests that contained it.
type chunkReply struct {
	chunkRow
	Embedders []chat.EmbedderID `json:"embedders"` // that have its vectors
	Uses      []chunkUse        `json:"uses"`      // newest first
}

// chunkUse is one request that contained a chunk, and why.
type chunkUse struct {
	chat.ChunkUse
	Similarity float64  `json:"similarity"`
	Keyword    float64  `json:"keyword_score"`
	Attached   bool     `json:"attached"`
	Matched    []string `json:"matched_words"`
	Why        string   `json:"why"`
}

func (s *Services) chunk(ctx context.Context, id chat.ChunkID) (reply, error) {
	d, err := s.Inspecting.ChunkDetail(ctx, id)
	if chat.CodeOf(err) == chat.CodeNotFound {
		err = chat.Errorf(chat.CodeNotFound, "cli.chunks", "There is no chunk %s.", id).WithHint("contextinfinity chunks lists them; the full id is needed")
	}
	if err != nil {
		return reply{}, err
	}
	doc := chunkReply{chunkRow: chunkRowOf(d.ChunkText), Embedders: append([]chat.EmbedderID{}, d.Embedders...), Uses: []chunkUse{}}
	for _, u := range d.Uses {
		use, err := s.chunkUse(ctx, u, d.ChunkText)
		if err != nil {
			return reply{}, err
		}
		doc.Uses = append(doc.Uses, use)
	}
	return reply{doc: doc, text: doc.print}, nil
}

// chunkUse explains why a turn's request contained a chunk: by its scores, and by the words that it shares with the
// turn's question.
func (s *Services) chunkUse(ctx context.Context, u chat.ChunkUse, t chat.ChunkText) (chunkUse, error) {
	use := chunkUse{ChunkUse: u}
	if u.Tool != "" {
		use.Matched, use.Why = []string{}, "the model looked it up itself"
		return use, nil
	}
	turn, err := s.Store.Turn(ctx, u.Turn)
	if err != nil {
		return use, err
	}
	raw, err := s.Inspecting.Manifest(ctx, u.Turn)
	if err != nil {
		return use, err
	}
	var m prompt.Manifest
	var part prompt.Part
	if len(raw) > 0 && json.Unmarshal(raw, &m) == nil {
		for _, p := range m.Chunks() {
			if p.ID == string(t.ID) {
				part = p
			}
		}
	}
	why := retrieval.MatchOf(turn.User.RenderedText(), t.Text, part, t.TurnSeq)
	use.Similarity, use.Keyword, use.Attached = part.Similarity, part.Keyword, part.Attached
	use.Matched, use.Why = append([]string{}, why.Words...), why.String()
	return use, nil
}

func (r chunkReply) print(o *output) {
	o.printf("%s, turn #%d of %s, %s, %s, %s\n", local(r.At), r.TurnSeq, line(titleOf(r.Title)), line(r.who()), r.Type, plural(r.Tokens, "token"))
	for _, e := range r.Embedders {
		o.printf("vectors of %s\n", line(e.String()))
	}
	o.printf("\n")
	o.text(r.Text + "\n\n")
	if len(r.Uses) == 0 {
		o.printf("No request has contained it yet.\n")
	}
	for _, u := range r.Uses {
		if u.Tool != "" {
			o.printf("turn #%d (%s): the model looked it up itself, with %s\n", u.TurnSeq, u.Turn, line(u.Tool))
			continue
		}
		o.printf("turn #%d (%s): rank %d, score %.2f, packed as %s; %s\n", u.TurnSeq, u.Turn, u.Rank, u.Score, u.Packed, line(u.Why))
	}
}
