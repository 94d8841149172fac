package turn

import (
	"strings"
	"unicode"

	"contextinfinity/backend/internal/lexical"
)

// isAcknowledgement reports whether passages contain only an acknowledgement ("Sure, thanks!"), which is not recalled
// on its own.
func isAcknowledgement(passages []string) bool {
	n := 0
	for _, p := range passages {
		for _, word := range strings.FieldsFunc(strings.ToLower(p), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' }) {
			if n++; n > maxAcknowledgement || !courtesies[word] {
				return false
			}
		}
	}
	return n > 0
}

// maxAcknowledgement is the maximum number of words in an acknowledgement.
const maxAcknowledgement = 8

// courtesies are words of acknowledgements and their connecting words.
var courtesies = lexical.Set(`ok okay sure yes yeah yep yup no nope thanks thank thx ty you u so much very a lot great good cool nice perfect
	awesome excellent wonderful fine alright right exactly got it that's that’s sounds will do understood noted please welcome you're
	you’re of course hi hello hey bye indeed true agreed makes sense lovely super amazing
	danke dankeschön bitte ja nein gut alles klar genau gerne schön verstanden hallo vielen dank
	merci oui non d'accord parfait super bien gracias sí si vale bueno perfecto claro grazie sì va bene perfetto
	obrigado obrigada sim não tá bom dank je wel nee goed dziękuję tak nie dobrze teşekkürler evet hayır tamam
	спасибо да нет хорошо понятно дякую так ні добре`)
