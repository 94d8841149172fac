package documents

// slideText reads a PowerPoint presentation: one page for each slide, in presentation order.
func slideText(z archive) ([]string, error) {
	const presentation = "ppt/presentation.xml"
	parts := z.related(presentation)
	var slides []string
	err := z.walk(presentation, nil, events{start: func(name string, attrs attributes) bool {
		if name == "sldId" {
			if part := parts[relationID(attrs)]; z.has(part) {
				slides = append(slides, part)
			}
		}
		return false
	}})
	if err != nil {
		return nil, err
	}
	if len(slides) > maxPages {
		return make([]string, len(slides)), nil
	}
	var pages []string
	for _, slide := range slides {
		f := &markdown{}
		if err := z.walk(slide, f, slideEvents(f)); err != nil {
			return nil, err
		}
		for _, part := range z.related(slide) {
			if !isNotes(part) || !z.has(part) {
				continue
			}
			f.block("Notes:", 0, false)
			if err := z.walk(part, f, slideEvents(f)); err != nil {
				return nil, err
			}
		}
		pages = append(pages, f.text())
	}
	return pages, nil
}

// relationID returns the attribute r:id. The attribute id without a prefix is a different number.
func relationID(attrs attributes) string {
	for _, attr := range attrs {
		if attr.Name.Local == "id" && attr.Name.Space != "" {
			return attr.Value
		}
	}
	return ""
}

func isNotes(part string) bool {
	const dir = "ppt/notesSlides/"
	return len(part) > len(dir) && part[:len(dir)] == dir
}

// slideEvents extracts the text of a slide. Fields (slide number, date) are left out.
func slideEvents(f *markdown) events {
	title, inText := false, false
	return events{
		start: func(name string, attrs attributes) bool {
			switch name {
			case "fld", "Fallback":
				return true
			case "sp":
				title = false
			case "ph":
				title = attrs.get("type") == "title" || attrs.get("type") == "ctrTitle"
			case "p":
				if p := f.begin(); title {
					p.level = 1
				}
			case "t":
				inText = true
			case "br":
				f.write("\n")
			case "tbl":
				f.beginTable()
			}
			return false
		},
		end: func(name string) {
			switch name {
			case "p":
				f.end()
			case "t":
				inText = false
			case "tc":
				f.endCell(1)
			case "tr":
				f.endRow(1)
			case "tbl":
				f.endTable()
			}
		},
		text: func(text string) {
			if inText {
				f.write(text)
			}
		},
	}
}
