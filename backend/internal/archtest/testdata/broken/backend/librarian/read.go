// breaks: pdf
package librarian

import _ "github.com/ledongthuc/pdf"
