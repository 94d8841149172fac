package cli

import (
	"cmp"
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
)

func chunkVerbs() []verb {
	return []verb{{
		use:   "chunks [SESSION]",
		short: "List the chunks in memory, or show one and why it was recalled",
		long: `A chunk is a passage of a turn or file, as memory searches it. They are listed newest first: of a session's
active branch, or without SESSION of all sessions.
--id CHUNK shows one in full: its origin, which embedders have it, which requests contained it and why.`,
		flags: []flag{
			branchFlag,
			scopeFlag,
			textFlag("text", "only chunks that contain this text"),
			numberFlag("limit", 1, 50, "at most this many chunks"),
			numberFlag("offset", 0, 0, "skip this many of the newest"),
			nameFlag("id", "show the `CHUNK` with this id"),
		},
		prepare: func(_ context.Context, r *run) error {
			if !r.given("id") {
				return nil
			}
			if len(r.args) > 0 || r.given("branch") || r.given("scope") || r.given("text") {
				return usagef("--id shows one chunk: SESSION, --branch, --scope and --text cannot be combined with it.")
			}
			id, err := parseID("chunk", r.text("id"))
			if err == nil && !chat.ValidID(id) {
				return usageHint("contextinfinity chunks prints it", "--id needs the full id of a chunk.")
			}
			r.input = id
			return err
		},
		opens: reads,
		do: func(ctx context.Context, r *run) (reply, error) {
			if r.input != "" {
				return showChunk(ctx, r.s, chat.ChunkID(r.input))
			}
			return listChunks(ctx, r)
		},
	}}
}

func listChunks(ctx context.Context, r *run) (reply, error) {
	within, err := r.within(ctx)
	if err != nil {
		return reply{}, err
	}
	page, total, err := r.s.Store.Chunks(ctx, chat.ChunkQuery{
		Within: within,
		Text:   r.text("text"),
		Limit:  r.number("limit"),
		Offset: r.number("offset"),
	})
	t := tableOf("CHUNK|TURN|WHO|TYPE|>TOKENS|TEXT", page, func(c chat.ChunkText) []any {
		return []any{c.ID, "#" + decimal(c.TurnSeq), speakerOf(c), c.Type, count(c.Tokens), clip(c.Text, 80)}
	})
	doc := fields{{"scope", within.Scope}, {"total", total}, {"chunks", lists.Map(page, chunkDocument)}}
	return reply{doc: doc, text: func(o *output) {
		switch {
		case total == 0 && r.text("text") != "":
			o.printf("No chunk contains this text.\n")
		case total == 0:
			o.printf("No chunks. Turns are indexed while the window is open, or by contextinfinity reconcile.\n")
		case len(page) == 0:
			o.printf("No chunks after --offset: there are %s.\n", count(total))
		default:
			t.print(o)
			o.printf("%d of %s.\n", len(page), plural(total, "chunk"))
		}
	}}, err
}

func chunkDocument(c chat.ChunkText) fields {
	return fields{
		{"chunk_id", c.ID},
		{"turn_id", c.SourceTurn},
		{"turn_seq", c.TurnSeq},
		{"session_id", c.SessionID},
		{"session_title", c.SessionTitle},
		{"role", c.Role},
		{"type", c.Type},
		{"file,omitempty", fileOf(c)},
		{"tokens", c.Tokens},
		{"at", c.At},
		{"text", c.Text},
	}
}

func speakerOf(c chat.ChunkText) string { return cmp.Or(fileOf(c), string(c.Role)) }

// chunkUse is one request that contained a chunk, and why.
type chunkUse struct {
	chat.ChunkUse
	Similarity float64  `json:"similarity"`
	Keyword    float64  `json:"keyword_score"`
	Attached   bool     `json:"attached"`
	Matched    []string `json:"matched_words"`
	Why        string   `json:"why"`
}

func showChunk(ctx context.Context, s *Services, id chat.ChunkID) (reply, error) {
	d, err := s.Inspecting.ChunkDetail(ctx, id)
	if chat.CodeOf(err) == chat.CodeNotFound {
		err = chat.Errorf(chat.CodeNotFound, "cli.chunks", "There is no chunk %s.", id).
			WithHint("contextinfinity chunks lists them; the full id is needed")
	}
	if err != nil {
		return reply{}, err
	}
	var uses []chunkUse
	for _, u := range d.Uses {
		use, err := s.chunkUse(ctx, u, d.ChunkText)
		if err != nil {
			return reply{}, err
		}
		uses = append(uses, use)
	}
	doc := append(chunkDocument(d.ChunkText), field{"embedders", d.Embedders}, field{"uses", uses})
	return reply{doc: doc, text: func(o *output) {
		o.printf("%s, turn #%d of %s, %s, %s, %s\n", local(d.At), d.TurnSeq, line(titleOf(d.SessionTitle)),
			line(speakerOf(d.ChunkText)), d.Type, plural(d.Tokens, "token"))
		for _, e := range d.Embedders {
			o.printf("vectors of %s\n", line(e.String()))
		}
		o.printf("\n")
		o.text(d.Text + "\n\n")
		o.printIf(len(uses) == 0, "No request has contained it yet.\n")
		for _, u := range uses {
			u.print(o)
		}
	}}, nil
}

func (u chunkUse) print(o *output) {
	o.printf("turn #%d (%s): ", u.TurnSeq, u.Turn)
	if u.Tool != "" {
		o.printf("the model looked it up itself, with %s\n", line(u.Tool))
		return
	}
	o.printf("rank %d, score %.2f, packed as %s; %s\n", u.Rank, u.Score, u.Packed, line(u.Why))
}

// chunkUse explains why a turn's request contained a chunk: by its scores, and by the words that it shares with the
// turn's question.
func (s *Services) chunkUse(ctx context.Context, u chat.ChunkUse, t chat.ChunkText) (chunkUse, error) {
	use := chunkUse{ChunkUse: u, Matched: []string{}}
	if u.Tool != "" {
		use.Why = "the model looked it up itself"
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
	use.Matched, use.Why = append(use.Matched, why.Words...), why.String()
	return use, nil
}
