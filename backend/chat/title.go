package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TitleRunes is the maximum length of a title derived from a message, in characters.
const TitleRunes = 60

// MaxTitleRunes is the maximum length of a session's title, a branch's label and a folder's name, in characters.
// Lists, menus and file names show less.
const MaxTitleRunes = 1_000

// BoundTitle cuts a title to MaxTitleRunes.
func BoundTitle(title string) string {
	if len(title) <= MaxTitleRunes {
		return title
	}
	n := 0
	for i := range title {
		if n++; n > MaxTitleRunes {
			return title[:i]
		}
	}
	return title
}

// TitleFrom returns the title of a new session: the first words of its first message on one line, at most TitleRunes
// long, cut between words if possible. It is empty for a text without a visible character.
func TitleFrom(text string) string { return firstWords(text, TitleRunes) }

// firstWords returns the first words of a text, on one line and at most maxRunes characters.
func firstWords(text string, maxRunes int) string {
	var title []rune
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = len(title) > 0
			continue
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			continue // control and direction characters would garble a list
		}
		if space {
			title = append(title, ' ')
			space = false
		}
		title = append(title, r)
		if len(title) > maxRunes {
			return cutTitle(title[:maxRunes], title[maxRunes])
		}
	}
	return string(title)
}

// shortestSentence is the minimum length of a first sentence, in bytes. A shorter one is not meaningful enough alone.
const shortestSentence = 12

// firstSentence returns a text on one line up to the end of its first sentence, without its full stop.
func firstSentence(s string) string {
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		next, size := utf8.DecodeRuneInString(s[end:])
		after, _ := utf8.DecodeRuneInString(s[end+size:])
		switch {
		case end < shortestSentence:
		case r == '.' && next == ' ' && isOrdinal(s[:end]):
		case r == '。', r == '.' && next == ' ' && !unicode.IsLower(after):
			return s[:i]
		case r == '！', r == '？', (r == '!' || r == '?') && next == ' ' && !unicode.IsLower(after):
			return s[:end]
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(s, "."), "。")
}

// isOrdinal reports whether the full stop before further text belongs to a German ordinal number: one or
// two digits after a word that needs the next one, as in "am 14. Juni", but not in "It costs 14. Then we left."
func isOrdinal(s string) bool {
	words := strings.Fields(s[max(0, len(s)-longestBeforeOrdinal):])
	if len(words) < 2 {
		return false
	}
	number, isNumber := strings.CutSuffix(words[len(words)-1], ".")
	return isNumber && len(number) > 0 && len(number) <= 2 && strings.Trim(number, "0123456789") == "" &&
		NeedsNextWord(strings.ToLower(words[len(words)-2]))
}

// longestBeforeOrdinal is how much of a text isOrdinal reads, in bytes.
const longestBeforeOrdinal = 40

// cutTitle shortens a title, between words if that keeps most of it. It adds no ellipsis, because a title is a name
// that people type and search for. next is the character that follows it.
func cutTitle(title []rune, next rune) string {
	s := string(title)
	switch {
	case strings.ContainsRune(clauseEnds+"!?)]}»”！？", next):
		return trimTitle(s)
	case next == ' ':
	default:
		if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
			s = s[:i]
		}
	}
	return EndTitle(s)
}

// EndTitle removes words from the end of a cut title that are incomplete without the missing words: "never", an
// article, a conjunction, an opening bracket. At least a third of the title is kept.
func EndTitle(cut string) string {
	for s := cut; ; {
		end := trimTitle(s)
		if strings.TrimRight(s, " "+clauseEnds) != strings.TrimRight(s, " ") {
			return end // a complete clause
		}
		s = withoutLeadIn(end)
		switch {
		case s == end:
			return end
		case len(s) < len(cut)/3:
			return trimTitle(cut)
		}
	}
}

const clauseEnds = ",;:，；：、"

func trimTitle(s string) string {
	return strings.TrimRight(s, clauseEnds+" -–—/+&([{<\"'“„‘«（「『《【")
}

// NeedsNextWord reports whether an English or German word in lower case is incomplete without the next one, such as a
// negation, an article or a preposition.
func NeedsNextWord(word string) bool { return leadIns[word] }

// withoutLeadIn removes the last word if it leads on to the next.
func withoutLeadIn(s string) string {
	before, last := "", s
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		before, last = s[:i], s[i+1:]
	}
	if isOrdinal(s) {
		return before
	}
	word := strings.TrimFunc(strings.ToLower(strings.ReplaceAll(last, "’", "'")), func(r rune) bool { return !unicode.IsLetter(r) })
	if NeedsNextWord(word) {
		return before
	}
	for _, particle := range chineseLeadIns {
		if rest, ok := strings.CutSuffix(s, particle); ok {
			return rest
		}
	}
	return s
}

// leadIns are English and German words that lead on to the next one: negations, articles, possessives, prepositions,
// conjunctions, question words, auxiliary verbs and pronouns that are subjects.
var leadIns = wordSet(`
a about after against all almost also although always am among an and any are as at because been before behind being below
between but by can can't cannot could did didn't do does doesn't don't during each either etc even every except few for
from had hardly has have how i i'm if in instead into is isn't it's just let's like many may might more most must my
near neither never no nor not of often on onto only or our per please quite rather really she should shouldn't since
so some such than that the their these they this those though through to toward towards under unless until upon
usually very via was we were what when where whether which while who whom whose why will with within without won't
would wouldn't you're your

aber als am an anstatt auch auf aus außer bei beim bevor bin bis bitte da damit dann das dass daß dein deine deinem
deinen deiner dem den denn der deren des dessen die diese diesem diesen dieser dieses doch dürfen durch ein eine einem
einen einer eines entweder er euer eure falls fast für gegen gerade hat haben hatte ich ihr ihre ihrem ihren ihrer im
immer in indem ins ist ja jede jedem jeden jeder jedes jemals kann kannst kein keine keinem keinen keiner können man
mein meine meinem meinen meiner mit möglichst muss musst müssen nach nachdem nicht nie niemals noch nur ob obwohl oder
ohne sehr sein seine seinem seinen seiner seit selten sind sobald sogar soll sollen sollte solange sondern sowie statt
und unser unsere unserem unseren unserer unter viele vom von vor war waren warum was wegen weder weil welche welchem
welchen welcher welches wenn wer werden wie wieso will wir wird wo wobei wurde wurden würde zu zum zur zwar zwischen
über`)

// chineseLeadIns are such words in Chinese, which is written without spaces. The longest come first.
var chineseLeadIns = strings.Fields(`
永远不要 绝对不要 不能够 永远不 从来不 绝不能 千万不 也不要 不可以 以及 因为 所以 但是 不过 如果 虽然 而且 并且 或者 还是 还有 关于 对于 由于
为了 根据 按照 通过 除了 包括 例如 比如 不要 不能 不会 不得 从不 绝不 决不 永远 总是 必须 应该 可以 需要 能够 可能 每次 每个 这个 那个 一个 哪些
这些 那些 什么 怎么 如何 为何 我们 他们 请 的 地 得 和 与 或 及 而 但 因 若 在 于 从 到 向 对 把 被 让 使 给 用 以 为 是 有 不 没 未 勿 别 很 太 更 最
都 也 就 才 又 再 还 只 将 要 会 能 可 该 应 须 每 各 这 那 我 你 他 她 它 您`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
