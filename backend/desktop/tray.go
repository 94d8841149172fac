//go:build desktop

package desktop

import (
	"sync"

	"fyne.io/systray"
)

// icon is the tray's icon and menu. It appears once a tray exists.
type icon struct {
	l     *life
	faces map[trayState][]byte
	place place

	mu    sync.Mutex
	built bool
	now   status
	line  *systray.MenuItem
	pause *systray.MenuItem
	texts []func(*trayWords) // each sets a menu item's texts in a language
}

// place is the system's tray.
type place interface {
	hosted() bool
	end()
}

func newTray(l *life, picture []byte) tray {
	i := &icon{l: l, faces: drawFaces(picture), now: status{words: l.w.words().idle, in: l.w.words()}}
	i.place = newPlace(i)
	return i
}

func (i *icon) hosted() bool { return i.place.hosted() }
func (i *icon) end()         { i.place.end() }

// prepare sets what must be known before the icon appears.
func (i *icon) prepare() {
	systray.SetTitle(programTitle)
	systray.SetTooltip(i.tooltip())
	systray.SetIcon(i.faces[i.now.trayState])
}

// build creates the menu; systray calls it once.
func (i *icon) build() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.prepare()
	i.line = systray.AddMenuItem(i.now.words, "")
	i.line.Disable()
	systray.AddSeparator()
	i.on(i.add(func(t *trayWords) (string, string) { return t.show, t.showTip }), i.l.show)
	i.on(i.add(func(t *trayWords) (string, string) { return t.newChat, t.newChatTip }), func() {
		i.l.show()
		i.l.w.Request(WindowRequest{Kind: RequestNewChat, X: -1, Y: -1})
	})
	if i.l.w.NewWindow != nil {
		i.on(i.add(func(t *trayWords) (string, string) { return t.newWindow, t.newWindowTip }), i.l.w.NewWindow)
	}
	if i.l.w.AskQuickly != nil {
		i.on(i.add(func(t *trayWords) (string, string) { return t.ask, t.askTip }), i.l.w.AskQuickly)
	}
	if work := i.l.w.Work; work != nil {
		systray.AddSeparator()
		i.pause = systray.AddMenuItemCheckbox(i.now.in.pause, i.now.in.pauseTip, i.now.paused)
		i.follow(i.pause, func(t *trayWords) (string, string) { return t.pause, t.pauseTip })
		i.on(i.pause, func() { work.Pause(!work.Paused()) })
		i.on(i.add(func(t *trayWords) (string, string) { return t.reconcile, t.reconcileTip }), work.Reconcile)
	}
	systray.AddSeparator()
	i.on(i.add(func(t *trayWords) (string, string) { return t.quit, t.quitTip }), i.l.quit)
	i.built = true
}

// add creates a menu item whose texts follow the language.
func (i *icon) add(text func(*trayWords) (title, tip string)) *systray.MenuItem {
	item := systray.AddMenuItem(text(i.now.in))
	i.follow(item, text)
	return item
}

// follow updates a menu item's texts when the language changes.
func (i *icon) follow(item *systray.MenuItem, text func(*trayWords) (title, tip string)) {
	i.texts = append(i.texts, func(t *trayWords) {
		title, tip := text(t)
		item.SetTitle(title)
		item.SetTooltip(tip)
	})
}

// on runs fn at each click. Clicks are lost while nothing receives them, so fn runs in its own goroutine.
func (i *icon) on(item *systray.MenuItem, fn func()) {
	go func() {
		for range item.ClickedCh {
			go fn()
		}
	}()
}

// show updates the icon.
func (i *icon) show(s status) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if s == i.now {
		return
	}
	before := i.now
	i.now = s
	if !i.built {
		return
	}
	i.line.SetTitle(s.words)
	if s.in != before.in {
		for _, say := range i.texts {
			say(s.in)
		}
	}
	systray.SetTooltip(i.tooltip())
	if s.trayState != before.trayState {
		systray.SetIcon(i.faces[s.trayState])
	}
	switch {
	case s.paused == before.paused || i.pause == nil:
	case s.paused:
		i.pause.Check()
	default:
		i.pause.Uncheck()
	}
}

func (i *icon) tooltip() string { return programTitle + ": " + i.now.words }
