package api

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/filetype"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/internal/lists"
)

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func frameView(f chat.Frame) Frame {
	return Frame{
		Session: string(f.Session), Branch: string(f.Branch), Turn: string(f.Turn), Step: string(f.Step),
		Attempt: f.Attempt, Seq: f.Seq, Block: f.Block, Kind: f.Kind, Text: f.Text, Tool: f.Tool,
		Displayed: f.Displayed, Durable: f.Durable,
	}
}

func sessionRow(s chat.SessionSummary, running, waiting bool) SessionRow {
	return SessionRow{
		ID: string(s.ID), Title: chat.BoundTitle(s.Title), ActiveBranch: string(s.ActiveBranch),
		CreatedAt: ms(s.CreatedAt), UpdatedAt: ms(s.UpdatedAt), Pinned: s.Pinned, Archived: s.ArchivedAt != nil, Folder: chat.BoundTitle(s.Folder),
		Branches: s.Branches, Turns: s.Turns, Pending: s.Pending, Status: sessionStatus(s, running, waiting),
	}
}

// sessionStatus selects the mark of a row: the most urgent one.
func sessionStatus(s chat.SessionSummary, running, waiting bool) SessionStatus {
	switch {
	case running:
		return SessionStreaming
	case waiting:
		return SessionWaiting
	case s.LastPhase == chat.PhaseResponding:
		return SessionIncomplete
	case s.LastPhase == chat.PhaseAccepted || s.LastPhase == chat.PhaseContextPrepared:
		return SessionUnsent
	case s.LastPhase == chat.PhaseFailed && !s.Unanswered && s.LastOutcome != chat.OutcomeDiscarded:
		return SessionFailed
	case s.Pending > 0:
		return SessionPending
	}
	return SessionQuiet
}

func branchView(b chat.BranchSummary, active chat.BranchID) BranchView {
	return BranchView{
		ID: string(b.ID), Label: chat.BoundTitle(b.Label), ParentID: string(b.ParentBranch), ForkSeq: b.ForkSeq, Turns: b.Turns,
		UpdatedAt: ms(b.UpdatedAt), Active: b.ID == active, Archived: b.ArchivedAt != nil,
		Machine: b.On, Continues: string(b.Continues), Foreign: b.Foreign,
	}
}

// blockViews returns the parts of a message. One without a message has none.
func blockViews(bs chat.Blocks) []BlockView {
	if chat.IsNoMessage(bs) {
		return []BlockView{}
	}
	return lists.Map(bs, blockView)
}

func blockView(b chat.Block) BlockView {
	switch b := b.(type) {
	case chat.Text:
		return BlockView{Kind: BlockText, Text: b.Text}
	case chat.Refusal:
		return BlockView{Kind: BlockRefusal, Text: b.Text}
	case chat.Reasoning:
		return BlockView{Kind: BlockReasoning, Text: b.Summary, Name: b.Provider}
	case chat.ToolUse:
		return BlockView{Kind: BlockToolUse, Text: string(b.Input), Name: b.Name, ID: b.ToolUseID}
	case chat.ToolResult:
		return BlockView{Kind: BlockToolResult, Text: b.Content.RenderedText(), ID: b.ToolUseID, IsError: b.IsError}
	case chat.Image:
		return BlockView{Kind: BlockImage, Text: b.Name, Name: b.MediaType, Data: imageURL(b)}
	case chat.Document:
		return BlockView{Kind: BlockDocument, Name: b.Name, ID: string(b.File), Tokens: b.Tokens, Whole: b.Complete}
	case chat.Memory: // Core.nameMemories sets its name
		return BlockView{Kind: BlockMemory, ID: string(b.Chunk)}
	case chat.Unknown:
		if text, ok := chat.InstructionsIn(b); ok {
			return BlockView{Kind: BlockInstructions, Text: text, Name: b.Provider}
		}
		return BlockView{Kind: BlockUnknown, Text: string(b.Raw), Name: b.Provider}
	}
	return BlockView{Kind: BlockUnknown, Text: fmt.Sprintf("%T", b)}
}

// imageURL returns the image as a data: URL; empty for a remote image.
func imageURL(b chat.Image) string {
	if b.Data() == "" {
		return ""
	}
	return "data:" + b.MediaType + ";base64," + b.Data()
}

// userMessage builds a message of text, images, documents and attached memory.
func userMessage(text string, images []ImageUpload, files []FileView, memories []MemoryChip) (chat.Message, error) {
	m := chat.Message{Role: chat.RoleUser, Blocks: documentBlocks(files)}
	attached, err := memoryBlocks(memories)
	if err != nil {
		return m, err
	}
	m.Blocks = append(m.Blocks, attached...)
	for _, img := range images {
		name := cmp.Or(img.Name, "The image")
		raw, err := base64.StdEncoding.DecodeString(img.Data)
		if err != nil {
			return m, chat.Errorf(chat.CodeInvalid, "chat.image", "%s is not a readable image; nothing was sent.", name)
		}
		image, err := filetype.NewImage(name, img.MediaType, raw)
		if err != nil {
			return m, err
		}
		image.Name = img.Name
		m.Blocks = append(m.Blocks, image)
	}
	if text != "" {
		m.Blocks = append(m.Blocks, chat.Text{Text: text})
	}
	return m, nil
}

// draftMessage builds the message in which a draft is stored.
func draftMessage(d Draft) (chat.Message, error) {
	m, err := userMessage(d.Text, d.Images, d.Files, d.Memories)
	if err != nil || d.Edit == nil {
		return m, err
	}
	edited, err := userMessage(d.Edit.Text, d.Edit.Images, d.Edit.Files, d.Edit.Memories)
	m.Blocks = append(append(m.Blocks, chat.Edit{Turn: chat.TurnID(d.Edit.TurnID), Seq: d.Edit.Seq}), edited.Blocks...)
	return m, err
}

func draftView(m chat.Message) Draft {
	before, edited, edit, editing := m.Blocks.AtEdit()
	v := Draft{Images: imageViews(before), Memories: []MemoryChip{}, Files: documentViews(before), Text: before.RenderedText()}
	if editing {
		v.Edit = &DraftEdit{
			TurnID: string(edit.Turn), Seq: edit.Seq,
			Images: imageViews(edited), Memories: []MemoryChip{}, Files: documentViews(edited), Text: edited.RenderedText(),
		}
	}
	return v
}

func imageViews(bs chat.Blocks) []ImageUpload {
	views := []ImageUpload{}
	for _, b := range bs {
		if img, ok := b.(chat.Image); ok {
			views = append(views, ImageUpload{MediaType: img.MediaType, Data: img.Data(), Name: img.Name})
		}
	}
	return views
}

func stepView(s chat.Step) StepView {
	v := StepView{
		ID: string(s.ID), Index: s.Index, Attempt: s.Attempt, Provider: s.Provider, ModelID: s.ModelID,
		Status: s.Outcome.Status, Reason: s.Outcome.Reason, Code: string(s.Outcome.Code), Message: s.Outcome.Said(),
		DisplayedBytes: s.DisplayedBytes, DurableBytes: s.DurableBytes, StartedAt: ms(s.StartedAt),
	}
	if s.EndedAt != nil {
		v.EndedAt = ms(*s.EndedAt)
	}
	if s.Usage != nil {
		v.InputTokens, v.OutputTokens, v.CachedTokens = s.Usage.InputTokens, s.Usage.OutputTokens, s.Usage.CachedInputTokens
	}
	return v
}

func stateView(s inspecting.State) StateView {
	return StateView{
		ID: string(s.ID), ShortID: chat.ShortID(s.ID), Seq: s.Seq, Origin: s.Origin, Model: s.Model,
		Summary: s.Summary, Tokens: s.TokenCount, CreatedAt: ms(s.CreatedAt), Head: s.Head, TurnSeq: s.Covers,
		Validation: string(s.Validation),
	}
}

// recoveryView returns the report without findings about deleted turns or about decisions that have been made since.
func recoveryView(r chat.RecoveryReport, turn func(chat.TurnID) (chat.Turn, error), titles func(chat.SessionID) string) RecoveryReport {
	now := r.AsOfNow(turn)
	v := RecoveryReport{At: ms(r.At), Clean: r.Clean(), Summary: now.Summary(), Items: []RecoveryItem{}}
	if now.Clean() && !r.Clean() {
		v.Summary = chat.AllResolved
	}
	for _, it := range now.Items {
		v.Items = append(v.Items, RecoveryItem{
			Kind: it.Kind, SessionID: string(it.SessionID), Session: titles(it.SessionID),
			TurnID: string(it.TurnID), TurnSeq: it.TurnSeq, Bytes: it.Bytes, Count: it.Count, Message: it.Said(),
		})
	}
	return v
}
