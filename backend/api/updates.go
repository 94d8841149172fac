package api

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/updates"
)

// QuickKey returns the state of the keys set in desktop.quick_ask_keys.
func (s *Settings) QuickKey() QuickKeyView {
	if s.c.QuickKey == nil {
		return QuickKeyView{Phase: QuickKeyFailed, Keys: s.c.Config.Config().Desktop.QuickAskKeys, Reason: chat.Say("The data is open read-only, so no global shortcut is registered.")}
	}
	return s.c.QuickKey()
}

// Updates returns the result of the last check for updates. It sends no request.
func (s *Settings) Updates() UpdateView {
	if s.c.Updates == nil {
		return UpdateView{}
	}
	return s.updateView()
}

// CheckForUpdates checks the release feed now. Errors are in the view.
func (s *Settings) CheckForUpdates() UpdateView {
	if s.c.Updates == nil {
		return UpdateView{}
	}
	_, _ = s.c.Updates.Check(s.c.ctx())
	return s.updateView()
}

func (s *Settings) updateView() UpdateView {
	last, err := s.c.Updates.Last()
	v := UpdateView{Feed: s.c.Config.Config().Updates.URL != ""}
	if last != nil {
		v.Newest, v.Page, v.At = last.Newest, last.Page, last.At.UnixMilli()
		v.Verdict = map[updates.Verdict]UpdateVerdict{updates.VerdictNewer: UpdateNewer, updates.VerdictCurrent: UpdateCurrent, updates.VerdictUnknown: UpdateUnknown}[last.Verdict]
	}
	if err != nil {
		e := chat.AsError(err)
		v.Reason, v.Hint = e.Said(), e.Advised()
	}
	return v
}
