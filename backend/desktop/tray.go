//go:build desktop

package desktop

import (
	"sync"

	"fyne.io/systray"
)

// icon is the tray's icon and menu. It appears once somebody can show it.
type icon struct {
	l     *life
	faces map[mood][]byte
	place place

	mu    sync.Mutex
	built bool
	now   status
	line  *systray.MenuItem
	pause *systray.MenuItem
}

// place is where the system keeps its tray.
type place interface {
	hosted() bool
	end()
}

func newTray(l *life, picture []byte) tray {
	i := &icon{l: l, faces: drawFaces(picture), now: status{words: "Idle"}}
	i.place = newPlace(i)
	return i
}

func (i *icon) hosted() bool { return i.place.hosted() }
func (i *icon) end()         { i.place.end() }

// prepare sets what has to be known before the icon appears.
func (i *icon) prepare() {
	systray.SetTitle(programTitle)
	systray.SetTooltip(i.tooltip())
	systray.SetIcon(i.faces[i.now.mood])
}

// build makes the menu; systray calls it once.
func (i *icon) build() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.prepare()
	i.line = systray.AddMenuItem(i.now.words, "")
	i.line.Disable()
	systray.AddSeparator()
	i.on(systray.AddMenuItem("Show "+programTitle, "Bring the window to the front"), i.l.show)
	i.on(systray.AddMenuItem("New chat", "Open the window on a new conversation"), func() {
		i.l.show()
		i.l.w.Request(WindowRequest{Kind: RequestNewChat, X: -1, Y: -1})
	})
	if i.l.w.NewWindow != nil {
		i.on(systray.AddMenuItem("New window", "Open another window on the same data"), i.l.w.NewWindow)
	}
	if i.l.w.AskQuickly != nil {
		i.on(systray.AddMenuItem("Quick ask", "Ask something in a small window"), i.l.w.AskQuickly)
	}
	if work := i.l.w.Work; work != nil {
		systray.AddSeparator()
		i.pause = systray.AddMenuItemCheckbox("Pause background work", "Summaries and indexing wait; answers do not", i.now.paused)
		i.on(i.pause, func() { work.Pause(!work.Paused()) })
		i.on(systray.AddMenuItem("Check for unfinished work", "Do what is due and look for what was left undone"), work.Reconcile)
	}
	systray.AddSeparator()
	i.on(systray.AddMenuItem("Quit", "End the program; what is being written is kept"), i.l.quit)
	i.built = true
}

// on runs fn at each click. Clicks that come while nobody listens are lost, so the
// listener does nothing itself.
func (i *icon) on(item *systray.MenuItem, fn func()) {
	go func() {
		for range item.ClickedCh {
			go fn()
		}
	}()
}

// show makes the icon say what goes on.
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
	systray.SetTooltip(i.tooltip())
	if s.mood != before.mood {
		systray.SetIcon(i.faces[s.mood])
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
