package app

import (
	"context"
	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/desktop/hotkey"
)

// keepQuickKey registers the keys of desktop.quick_ask_keys until the program closes. ask opens the window for a quick
// question; the token lets it take the focus.
func (a *app) keepQuickKey(core *api.Core, ask func(token string)) {
	keeper := hotkey.New(
		func() string { return desktop.QuickAskWords(a.Config.Config().UI.Language) }, ask,
		func() { core.Hub.Change(chat.Change{Kind: chat.ChangeSettings}) },
	)
	core.QuickKey = func() api.QuickKeyView { return quickKeyView(keeper.State()) }
	keeper.Want(a.Config.Config().Desktop.QuickAskKeys)
	cancel := a.Config.Subscribe(func(c *config.Config) { keeper.Want(c.Desktop.QuickAskKeys) })
	a.onClose(func(context.Context) error { cancel(); keeper.Close(); return nil })
}

func quickKeyView(s hotkey.State) api.QuickKeyView {
	v := api.QuickKeyView{
		Phase: map[hotkey.Phase]api.QuickKeyPhase{hotkey.PhaseOff: api.QuickKeyOff, hotkey.PhaseAsking: api.QuickKeyAsking, hotkey.PhaseBound: api.QuickKeyBound, hotkey.PhaseFailed: api.QuickKeyFailed}[s.Phase],
		Keys:  s.Requested, Given: s.Bound,
	}
	if s.Err != nil {
		e := chat.AsError(s.Err)
		v.Reason, v.Hint = e.Said(), e.Advised()
	}
	return v
}
