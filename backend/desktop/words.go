package desktop

import (
	"fmt"
	"os"
	"strings"
)

// trayWords are the texts of the tray in one language. They are worded so that no number needs a plural form:
// "2 running".
type trayWords struct {
	idle                                           string
	running, queued, both                          string // formats for running, queued, and both
	paused, pausedQueued                           string
	show, showTip, newChat, newChatTip             string
	newWindow, newWindowTip, ask, askTip           string
	pause, pauseTip, reconcile, reconcileTip, quit string
	quitTip                                        string
}

var trayEnglish = trayWords{
	idle: "Idle", running: "Working: %d running", queued: "Working: %d waiting", both: "Working: %d running, %d waiting",
	paused: "Background work is paused", pausedQueued: "Background work is paused, %d waiting",
	show: "Show ContextInfinity", showTip: "Bring the window to the front",
	newChat: "New session", newChatTip: "Open the window on a new session",
	newWindow: "New window", newWindowTip: "Open another window on the same data",
	ask: "Quick ask", askTip: "Ask something in a small window",
	pause: "Pause background work", pauseTip: "Summaries and indexing wait; answers do not",
	reconcile: "Check for unfinished work", reconcileTip: "Finish background work that is due, and look for unfinished work",
	quit: "Quit", quitTip: "Quit; partial answers are kept",
}

var trayGerman = trayWords{
	idle: "Untätig", running: "Aktiv: %d in Arbeit", queued: "Aktiv: %d wartend", both: "Aktiv: %d in Arbeit, %d wartend",
	paused: "Hintergrundarbeit ist angehalten", pausedQueued: "Hintergrundarbeit ist angehalten, %d wartend",
	show: "ContextInfinity anzeigen", showTip: "Das Fenster nach vorn holen",
	newChat: "Neue Sitzung", newChatTip: "Das Fenster mit einer neuen Sitzung öffnen",
	newWindow: "Neues Fenster", newWindowTip: "Ein weiteres Fenster auf dieselben Daten öffnen",
	ask: "Schnellfrage", askTip: "In einem kleinen Fenster etwas fragen",
	pause: "Hintergrundarbeit anhalten", pauseTip: "Zusammenfassungen und Indexierung warten; Antworten nicht",
	reconcile: "Nach unerledigter Arbeit suchen", reconcileTip: "Fälliges erledigen und nach Liegengebliebenem suchen",
	quit: "Beenden", quitTip: "Das Programm beenden; was gerade geschrieben wird, bleibt erhalten",
}

var trayChinese = trayWords{
	idle: "空闲", running: "工作中：%d 项运行", queued: "工作中：%d 项等待", both: "工作中：%d 项运行，%d 项等待",
	paused: "后台工作已暂停", pausedQueued: "后台工作已暂停，%d 项等待",
	show: "显示 ContextInfinity", showTip: "将窗口移到最前",
	newChat: "新会话", newChatTip: "在窗口中打开新会话",
	newWindow: "新窗口", newWindowTip: "在同一份数据上再打开一个窗口",
	ask: "快速提问", askTip: "在小窗口中提问",
	pause: "暂停后台工作", pauseTip: "摘要和索引会等待；回答不会",
	reconcile: "检查未完成的工作", reconcileTip: "处理到期的工作，并查找遗留未完成的工作",
	quit: "退出", quitTip: "结束程序；正在写入的内容会保留",
}

// languageOf returns ui.language, or the first supported language of the system. The window chooses in the same way
// (frontend/src/lib/i18n/languages.ts).
func languageOf(setting string, preferred []string) string {
	for _, tag := range append([]string{setting}, preferred...) {
		parts := strings.Split(strings.ToLower(tag), "-")
		switch {
		case parts[0] == "en" || parts[0] == "de":
			return parts[0]
		case parts[0] == "zh" && !isTraditional(parts[1:]):
			return "zh-CN"
		}
	}
	return "en"
}

// Language returns the language of the window for a value of ui.language: "en", "de" or "zh-CN".
func Language(setting string) string {
	_, preferred := webLanguages(os.Getenv)
	return languageOf(setting, preferred)
}

// wordsIn returns the texts in a language.
func wordsIn(language string) *trayWords {
	switch language {
	case "de":
		return &trayGerman
	case "zh-CN":
		return &trayChinese
	}
	return &trayEnglish
}

func isTraditional(parts []string) bool {
	for _, part := range parts {
		switch part {
		case "hant", "tw", "hk", "mo":
			return true
		}
	}
	return false
}

// QuickAskWords describes the purpose of the quick ask keys, in the language of ui.language.
func QuickAskWords(setting string) string { return wordsIn(Language(setting)).askTip }

// words returns the texts of the tray with the current settings.
func (w *Window) words() *trayWords { return wordsIn(Language(w.Settings().Language)) }

// workText says how much work is running and queued.
func (t *trayWords) workText(running, queued int) string {
	switch {
	case running > 0 && queued > 0:
		return fmt.Sprintf(t.both, running, queued)
	case running > 0:
		return fmt.Sprintf(t.running, running)
	case queued > 0:
		return fmt.Sprintf(t.queued, queued)
	}
	return t.idle
}

// pausedText says that work is paused, and how much is queued.
func (t *trayWords) pausedText(queued int) string {
	if queued > 0 {
		return fmt.Sprintf(t.pausedQueued, queued)
	}
	return t.paused
}
