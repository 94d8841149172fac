package documents

import (
	"bytes"
	"fmt"
	"strings"
)

// makePDF writes objects 1, 2, ... with their cross-reference table.
func makePDF(objects []string, trailer ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, strings.Join(trailer, " "), table)
	return b.Bytes()
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

func stream(dict, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

// simplePDF has one page for each content.
func simplePDF(contents ...string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", helvetica}
	var kids []string
	for _, c := range contents {
		page := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", page))
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R >>", page+1), stream("", c))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] /Resources << /Font << /F1 3 0 R >> >> >>", len(kids), strings.Join(kids, " "))
	return makePDF(objects)
}

func formPDF() []byte {
	return makePDF([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>",
		stream("", "/X Do /X Do"), stream("/Type /XObject /Subtype /Form /Resources << /XObject << /X 5 0 R >> >>", "/X Do /X Do"),
	})
}

// encryptedPDF has a password that is not empty.
func encryptedPDF() []byte {
	key := strings.Repeat("00", 32)
	return makePDF([]string{"<< /Type /Catalog >>"}, fmt.Sprintf("/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] "+
		"/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P 0 /O <%s> /U <%s> >>", key, key))
}
