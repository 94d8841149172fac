//go:build desktop

package desktop

import (
	"sync"

	"fyne.io/systray"
)

// icon is the tray's icon and menu. It appears once a tray exists.
type icon struct {
	l          *Lifecycle
	images     map[trayState][]byte
	systemTray systemTray

	mu         sync.Mutex
	built      bool
	current    status
	statusItem *systray.MenuItem
	pause      *systray.MenuItem
	setTexts   []func(*trayWords) // each sets a menu item's texts in a language
}

// systemTray is the system's tray.
type systemTray interface {
	hosted() bool
	end()
}

func newTray(l *Lifecycle, picture []byte) tray {
	i := &icon{l: l, images: drawIcons(picture), current: status{words: l.w.words().idle, texts: l.w.words()}}
	i.systemTray = newSystemTray(i)
	return i
}

func (i *icon) hosted() bool { return i.systemTray.hosted() }
func (i *icon) end()         { i.systemTray.end() }

// prepare sets the texts and the picture before the icon appears.
func (i *icon) prepare() {
	systray.SetTitle(Title)
	systray.SetTooltip(i.tooltip())
	systray.SetIcon(i.images[i.current.trayState])
}

// build creates the menu; systray calls it once.
func (i *icon) build() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.prepare()
	i.statusItem = systray.AddMenuItem(i.current.words, "")
	i.statusItem.Disable()
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
		i.pause = systray.AddMenuItemCheckbox(i.current.texts.pause, i.current.texts.pauseTip, i.current.paused)
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
	item := systray.AddMenuItem(text(i.current.texts))
	i.follow(item, text)
	return item
}

// follow updates a menu item's texts when the language changes.
func (i *icon) follow(item *systray.MenuItem, text func(*trayWords) (title, tip string)) {
	i.setTexts = append(i.setTexts, func(t *trayWords) {
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
	if s == i.current {
		return
	}
	previous := i.current
	i.current = s
	if !i.built {
		return
	}
	i.statusItem.SetTitle(s.words)
	if s.texts != previous.texts {
		for _, setTexts := range i.setTexts {
			setTexts(s.texts)
		}
	}
	systray.SetTooltip(i.tooltip())
	if s.trayState != previous.trayState {
		systray.SetIcon(i.images[s.trayState])
	}
	switch {
	case s.paused == previous.paused || i.pause == nil:
	case s.paused:
		i.pause.Check()
	default:
		i.pause.Uncheck()
	}
}

func (i *icon) tooltip() string { return Title + ": " + i.current.words }
