package recall

import (
	"fmt"
	"time"

	"contextinfinity/backend/chat"
)

// texts are the fixed sentences of recall in one language. Quotations are not translated.
type texts struct {
	introduction               string // with the date
	byMeaning                  string // after it, if nothing has a word of the question
	notFound                   string // if every session was searched
	notFoundIn                 string // with one of scopeNames, if only that scope was searched
	scopeNames                 map[chat.Scope]string
	onSiblings                 string // after notFound, with the turn on another branch
	emptyHistory               string
	noWords                    string // the message contains no words
	noMemory                   string // in a temporary chat
	saved                      string // before the answer to a message that asks nothing
	nothingElse                string // after saved, if nothing was found
	projectFacts, sessionFacts string // headings above the pinned facts of the project and of the session
	attribution                string // with the speaker, the date and the turn of a quotation
	document                   string // with its name
	untitled, user, assistant  string
	date                       func(time.Time) string // with the year, because an answer may be read years later
}

var english = texts{
	introduction: "From your own history, as of %s. This is **recall**: it quotes what you wrote and the answers you got, and adds nothing.\n",
	byMeaning:    "None of it has a word of your question: it is what comes nearest in meaning, and may be about something else.\n",
	notFound: "I found nothing about that in your history.\n\n" +
		"This is **recall**: it searches every session kept here, by words and by similarity, and quotes what it finds. " +
		"Try a name, a number or a rarer word from the conversation. " +
		"For an answer instead of a quotation, choose a model with a key, or a local server.\n",
	notFoundIn: "I found nothing about that in %s.\n\n" +
		"This is **recall**: it quotes what it finds within the scope of memory, by words and by similarity. " +
		"You choose the scope beside the message field, or with `contextinfinity sessions scope`. " +
		"For an answer instead of a quotation, choose a model with a key, or a local server.\n",
	scopeNames: map[chat.Scope]string{chat.ScopeLineage: "this branch", chat.ScopeSession: "this session", chat.ScopeProject: "this project"},
	onSiblings: "\n[Another branch of this session](contextinfinity://turn/%s) has something about it, such as what a message said before you edited it.\n",
	emptyHistory: "Your history is still empty, so there is nothing to quote yet. Your message is saved.\n\n" +
		"This is **recall**, the built-in model. It works without a key and without a network: " +
		"it searches everything you say here and every answer, in all sessions, and answers with quotations " +
		"and links to where they are.\n\n" +
		"To talk to a language model, add a key for OpenAI or Anthropic, or a model of a local server such as Ollama: " +
		"in the settings, or with `contextinfinity keys set` and `contextinfinity models add`. Then ask recall later: it will remember.\n",
	noWords: "There are no words in your message to search for. " +
		"This is **recall**: it looks for words in your history and quotes what it finds.\n",
	noMemory: "A temporary chat has no memory, so **recall** does not search your history here, and your message is not saved. " +
		"Ask in a session, or choose another model for this chat.\n",
	saved: "Your message is saved, and you can ask for it later.\n\n",
	nothingElse: "I found nothing else about it. This is **recall**: it quotes what you wrote and the answers you got. " +
		"For an answer instead of a quotation, choose a model with a key, or a local server.\n",
	projectFacts: "Pinned facts of this project", sessionFacts: "Pinned facts of this session",
	attribution: "\n**%s**, [%s](contextinfinity://turn/%s):\n\n", document: "The document %s",
	untitled: "Untitled session", user: "You", assistant: "The assistant",
	date: func(at time.Time) string { return at.Format("2 January 2006, 15:04") },
}

var german = texts{
	introduction: "Aus Ihrem eigenen Verlauf, Stand %s. Dies ist **recall**: Es zitiert, was Sie geschrieben haben und was Ihnen geantwortet wurde, und fügt nichts hinzu.\n",
	byMeaning:    "Nichts davon enthält ein Wort Ihrer Frage: Es kommt ihr in der Bedeutung am nächsten und kann von etwas anderem handeln.\n",
	notFound: "Dazu habe ich in Ihrem Verlauf nichts gefunden.\n\n" +
		"Dies ist **recall**: Es durchsucht jede hier aufbewahrte Sitzung nach Wörtern und nach Ähnlichkeit und zitiert, was es findet. " +
		"Versuchen Sie es mit einem Namen, einer Zahl oder einem selteneren Wort aus der Unterhaltung. " +
		"Für eine Antwort statt eines Zitats wählen Sie ein Modell mit Schlüssel oder einen lokalen Server.\n",
	notFoundIn: "Dazu habe ich %s nichts gefunden.\n\n" +
		"Dies ist **recall**: Es zitiert, was es nach Wörtern und nach Ähnlichkeit findet, soweit das Gedächtnis reicht. " +
		"Wie weit es reicht, legen Sie neben dem Nachrichtenfeld oder mit `contextinfinity sessions scope` fest. " +
		"Für eine Antwort statt eines Zitats wählen Sie ein Modell mit Schlüssel oder einen lokalen Server.\n",
	scopeNames: map[chat.Scope]string{chat.ScopeLineage: "in diesem Zweig", chat.ScopeSession: "in dieser Sitzung", chat.ScopeProject: "in diesem Projekt"},
	onSiblings: "\n[Ein anderer Zweig dieser Sitzung](contextinfinity://turn/%s) enthält etwas dazu, zum Beispiel was eine Nachricht vor ihrer Bearbeitung sagte.\n",
	emptyHistory: "Ihr Verlauf ist noch leer, es gibt also noch nichts zu zitieren. Ihre Nachricht ist gespeichert.\n\n" +
		"Dies ist **recall**, das eingebaute Modell. Es funktioniert ohne Schlüssel und ohne Netz: " +
		"Es durchsucht alles, was Sie hier sagen, und jede Antwort, in allen Sitzungen, und antwortet mit Zitaten " +
		"und Links zu den Fundstellen.\n\n" +
		"Um mit einem Sprachmodell zu sprechen, fügen Sie einen Schlüssel für OpenAI oder Anthropic hinzu " +
		"oder ein Modell eines lokalen Servers wie Ollama: in den Einstellungen oder mit `contextinfinity keys set` und `contextinfinity models add`. Fragen Sie recall später noch einmal: Es wird sich erinnern.\n",
	noWords: "Ihre Nachricht enthält keine Wörter, nach denen gesucht werden kann. " +
		"Dies ist **recall**: Es sucht in Ihrem Verlauf nach Wörtern und zitiert, was es findet.\n",
	noMemory: "Ein temporärer Chat hat kein Gedächtnis, daher durchsucht **recall** Ihren Verlauf hier nicht, und Ihre Nachricht wird nicht gespeichert. " +
		"Fragen Sie in einer Sitzung, oder wählen Sie für diesen Chat ein anderes Modell.\n",
	saved: "Ihre Nachricht ist gespeichert, und Sie können später danach fragen.\n\n",
	nothingElse: "Sonst habe ich dazu nichts gefunden. Dies ist **recall**: Es zitiert, was Sie geschrieben haben und was Ihnen geantwortet wurde. " +
		"Für eine Antwort statt eines Zitats wählen Sie ein Modell mit Schlüssel oder einen lokalen Server.\n",
	projectFacts: "Angeheftete Tatsachen dieses Projekts", sessionFacts: "Angeheftete Tatsachen dieser Sitzung",
	attribution: "\n**%s**, [%s](contextinfinity://turn/%s):\n\n", document: "Das Dokument %s",
	untitled: "Sitzung ohne Titel", user: "Sie", assistant: "Der Assistent",
	date: func(at time.Time) string {
		return fmt.Sprintf("%d. %s %s", at.Day(), germanMonths[at.Month()-1], at.Format("2006, 15:04"))
	},
}

var germanMonths = [12]string{
	"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember",
}

var chinese = texts{
	introduction: "以下内容来自您自己的历史记录，截至 %s。这是 **recall**：它只引用您写过的内容和得到的回答，不添加任何内容。\n",
	byMeaning:    "其中没有您问题中的词语：这是意思最接近的内容，也可能与此无关。\n",
	notFound: "在您的历史记录中没有找到相关内容。\n\n" +
		"这是 **recall**：它按词语和相似度搜索保存在此的所有会话，并引用找到的内容。" +
		"请试试对话中的名称、数字或较少见的词语。" +
		"如果需要回答而不是引文，请选择有密钥的模型或本地服务器。\n",
	notFoundIn: "在%s中没有找到相关内容。\n\n" +
		"这是 **recall**：它在记忆范围内按词语和相似度搜索，并引用找到的内容。" +
		"记忆范围可以在消息输入框旁选择，也可以用 `contextinfinity sessions scope` 设置。" +
		"如果需要回答而不是引文，请选择有密钥的模型或本地服务器。\n",
	scopeNames: map[chat.Scope]string{chat.ScopeLineage: "此分支", chat.ScopeSession: "此会话", chat.ScopeProject: "此项目"},
	onSiblings: "\n[此会话的另一个分支](contextinfinity://turn/%s)中有相关内容，例如消息在编辑之前的内容。\n",
	emptyHistory: "您的历史记录还是空的，因此还没有可以引用的内容。您的消息已保存。\n\n" +
		"这是内置模型 **recall**。它不需要密钥，也不需要网络：" +
		"它会搜索您在所有会话中说过的内容和得到的每个回答，并用引文及其出处的链接来回答。\n\n" +
		"要与语言模型对话，请添加 OpenAI 或 Anthropic 的密钥，或 Ollama 等本地服务器的模型：" +
		"在设置中，或用 `contextinfinity keys set` 和 `contextinfinity models add`。以后再问 recall：它会记得。\n",
	noWords: "您的消息中没有可以搜索的词语。" +
		"这是 **recall**：它在您的历史记录中查找词语，并引用找到的内容。\n",
	noMemory: "临时聊天没有记忆，因此 **recall** 在此不会搜索您的历史记录，您的消息也不会保存。" +
		"请在会话中提问，或为此聊天选择其他模型。\n",
	saved: "您的消息已保存，以后可以询问。\n\n",
	nothingElse: "没有找到其他相关内容。这是 **recall**：它引用您写过的内容和得到的回答。" +
		"如果需要回答而不是引文，请选择有密钥的模型或本地服务器。\n",
	projectFacts: "此项目固定的事实", sessionFacts: "此会话固定的事实",
	attribution: "\n**%s**，[%s](contextinfinity://turn/%s)：\n\n", document: "文档 %s",
	untitled: "无标题会话", user: "您", assistant: "助手",
	date: func(at time.Time) string { return at.Format("2006年1月2日 15:04") },
}

// texts returns the texts in the current language.
func (p *Provider) texts() *texts {
	switch p.language() {
	case "de":
		return &german
	case "zh-CN":
		return &chinese
	}
	return &english
}

// speaker returns the name of the speaker of a passage, or of its document.
func (w *texts) speaker(p Passage) string {
	switch {
	case p.Document != "":
		return fmt.Sprintf(w.document, w.title(p.Document))
	case p.Name != "":
		return w.title(p.Name)
	case p.Role == chat.RoleAssistant:
		return w.assistant
	}
	return w.user
}

// title returns a title on one line, with its Markdown escaped, or the text for a missing title.
func (w *texts) title(text string) string {
	if text = heading(text); text == "" {
		return w.untitled
	}
	return text
}
