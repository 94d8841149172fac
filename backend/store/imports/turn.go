package imports

import (
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer"
)

// turn writes a turn, which is then pending or failed.
func (w *importTx) turn(r *importRun, t *transfer.Turn) (chat.TurnID, error) {
	t, err := w.withInstructions(t)
	if err != nil {
		return "", err
	}
	user, files, err := w.message(t.User)
	if err != nil {
		return "", err
	}
	started, ended := w.turnTimes(t)
	w.Now = started
	row, err := records.Accept(w.m.Store.Core, w.Tx, chat.Acceptance{BranchID: r.tip.id, User: user, Provider: t.Provider, Model: t.Model, RetryOf: w.m.retryOf(t)})
	if err != nil {
		return "", err
	}
	id := chat.TurnID(row.ID)
	if err := records.BindFiles(w.Tx, row, files); err != nil {
		return "", err
	}
	if err := w.key(keyTurn+t.ContentKey, row.ID); err != nil {
		return "", err
	}
	w.Now = ended
	if Ended(t) {
		err = w.answer(&row, t)
	} else {
		err = w.fail(&row, t)
	}
	s := w.m.positions[t.Key]
	s.id, s.at = id, w.Now
	w.turns++
	w.m.latest = schema.Latest(w.m.latest, w.Now)
	return id, err
}

// withInstructions adds the source's instructions for the conversation to its first turn: they are part of the
// transcript, not instructions of this session.
func (w *importTx) withInstructions(t *transfer.Turn) (*transfer.Turn, error) {
	text := schema.Clean(w.m.Conversation.SystemPrompt)
	if t.Parent != "" || strings.TrimSpace(text) == "" {
		return t, nil
	}
	block, err := chat.InstructionsBlock(string(w.m.Conversation.Source), text)
	if err != nil {
		return nil, err
	}
	copied := *t
	if t.Assistant != nil && questionHash(t) == questionHash(&transfer.Turn{User: chat.NoMessage()}) {
		answer := *t.Assistant // the answer must not share memory with the parsed conversation
		answer.Blocks = append(slices.Clone(answer.Blocks), block)
		copied.Assistant = &answer
	} else {
		copied.User.Blocks = append(slices.Clone(t.User.Blocks), block)
	}
	return &copied, nil
}

// answer finalizes a turn. An answer that its source marks as cut short counts as a partial answer that was kept.
func (w *importTx) answer(row *schema.TurnRow, t *transfer.Turn) error {
	message, files, err := w.message(*t.Assistant)
	if err != nil {
		return err
	}
	if err := records.BindFiles(w.Tx, *row, files); err != nil {
		return err
	}
	outcome := chat.OutcomeCompleted
	if t.Incomplete {
		outcome = chat.OutcomeKept
	}
	return records.FinalizeUnsent(w.Tx, *row, chat.Finalization{
		TurnID: chat.TurnID(row.ID), Message: message, Outcome: outcome, Usage: t.Usage,
	})
}

// fail ends a turn without a final answer. A partial answer stays with its call, as in a turn that failed here.
func (w *importTx) fail(row *schema.TurnRow, t *transfer.Turn) error {
	failure := chat.Failure{Code: chat.CodeProvider, Message: schema.Clean(t.Failure)}
	switch {
	case failure.Message == "" && t.Assistant != nil:
		failure.Message = schema.Clean(t.Assistant.RenderedText())
	case failure.Message == "":
		failure.Message = chat.UnansweredImport
	}
	failure.Message = strings.ToValidUTF8(queue.Cut(failure.Message, queue.MaxLastError), "")
	end := chat.TurnFailure{TurnID: chat.TurnID(row.ID), Outcome: chat.OutcomeFailed, Failure: &failure}
	if t.Assistant != nil && !t.Assistant.IsEmpty() {
		step, err := w.failedStep(row, t, failure)
		if err != nil {
			return err
		}
		end.Step = &step
	}
	return records.Fail(w.Tx, row, end)
}

func (w *importTx) failedStep(row *schema.TurnRow, t *transfer.Turn, failure chat.Failure) (chat.StepEnd, error) {
	id := chat.TurnID(row.ID)
	message, files, err := w.message(*t.Assistant)
	if err != nil {
		return chat.StepEnd{}, err
	}
	if err := records.BindFiles(w.Tx, *row, files); err != nil {
		return chat.StepEnd{}, err
	}
	row.Phase = string(chat.PhaseResponding) // no context is assembled
	step, err := records.BeginStep(w.Tx, *row, chat.StepStart{TurnID: id, Provider: t.Provider, ModelID: t.Model})
	return chat.StepEnd{
		StepID: chat.StepID(step.ID), Outcome: chat.StepOutcome{Status: chat.StepFailed, Code: failure.Code, Message: failure.Message},
		Items: chat.Items{chat.AssistantMessage{Blocks: message.Blocks}}, Usage: t.Usage,
	}, err
}

// message returns a message with its documents stored as files of the session, and these files, which must be bound
// to the turn.
func (w *importTx) message(m chat.Message) (stored, files chat.Message, err error) {
	m.Blocks, err = w.blocks(m.Blocks, &files.Blocks)
	return m, files, err
}

func (w *importTx) blocks(list chat.Blocks, files *chat.Blocks) (chat.Blocks, error) {
	list = slices.Clone(list)
	for i, b := range list {
		var err error
		switch b := b.(type) {
		case chat.Document:
			if list[i], err = w.document(b); err == nil {
				*files = append(*files, list[i])
			}
		case chat.ToolResult:
			b.Content, err = w.blocks(b.Content, files)
			list[i] = b
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// document stores a document, once per session. One without any text is not stored as a file: it becomes an unknown
// block with its JSON.
func (w *importTx) document(d chat.Document) (chat.Block, error) {
	text := schema.Clean(d.Text)
	if strings.TrimSpace(text) == "" {
		raw, err := chat.MarshalJSON(chat.Blocks{d})
		return chat.Unknown{Provider: string(w.m.Conversation.Source), Raw: raw}, err
	}
	excerpt, tokens := w.m.Rules.Excerpt(text)
	d.Name, d.Text, d.Tokens, d.Complete = schema.Clean(d.Name), excerpt, tokens, excerpt == text
	sum := codec.Hash([]byte(text))
	existing, err := sqlite.All[chat.FileID](w.DB, `SELECT id FROM files WHERE session_id = ? AND content_hash = ?`, w.m.Session, sum)
	if err != nil {
		return nil, err
	}
	if len(existing) > 0 {
		d.File = existing[0]
		return d, nil
	}
	d.File = chat.FileID(w.NewID())
	return d, events.InsertFile(w.Tx, schema.FileRow{
		ID: string(d.File), SessionID: string(w.m.Session), Name: d.Name, MediaType: schema.Clean(d.MediaType),
		Size: int64(len(text)), CreatedAt: w.Stamp(), ContentHash: sum, Tokens: tokens,
	}, []byte(text), "")
}
