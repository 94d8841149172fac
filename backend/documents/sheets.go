package documents

import (
	"errors"
	"io"
	"strings"

	"github.com/xuri/excelize/v2"
)

// sheetText reads a spreadsheet of Excel: a heading and tables for each sheet, with dates and numbers as they are shown.
func sheetText(z archive) (pages []string, err error) {
	defer recovered(&err)
	// All is unpacked in memory, which is bounded for the whole process: parts of somebody's sheets stay on no disk.
	book, err := excelize.OpenReader(io.NewSectionReader(z.data, 0, z.data.Size()), excelize.Options{UnzipSizeLimit: processMemory, UnzipXMLSizeLimit: processMemory})
	if err != nil {
		if errors.Is(err, excelize.ErrWorkbookPassword) {
			err = errLocked
		}
		return nil, err
	}
	defer func() { _ = book.Close() }()
	f := &markdown{}
	for _, name := range book.GetSheetList() {
		title := name
		if visible, err := book.GetSheetVisible(name); err == nil && !visible {
			title += " (hidden sheet)"
		}
		before := f.out.Len()
		f.block(title, 2, false)
		titled := f.out.Len()
		if err := addSheet(f, book, name); err != nil {
			return nil, err
		}
		if f.out.Len() == titled { // an empty sheet, or a chart
			kept := f.out.String()[:before]
			f.out.Reset()
			f.out.WriteString(kept)
		}
	}
	return []string{f.text()}, nil
}

func addSheet(f *markdown, book *excelize.File, name string) error {
	rows, err := book.Rows(name)
	if err != nil {
		if errors.As(err, new(excelize.ErrSheetNotExist)) {
			return nil // a sheet that is a chart
		}
		return err
	}
	defer func() { _ = rows.Close() }()
	f.beginTable()
	size, empty := f.out.Len(), true
	for rows.Next() {
		cells, err := rows.Columns()
		if err != nil {
			return err
		}
		blank := strings.TrimSpace(strings.Join(cells, "")) == ""
		if blank && empty {
			continue // one empty row ends a table
		}
		empty = blank
		for _, cell := range cells[:min(len(cells), maxColumns)] {
			f.grid().write(cell)
			f.endCell(1)
			size += len(cell) + 3
		}
		if f.endRow(1); size > MaxText {
			return errLong
		}
	}
	f.endTable()
	return rows.Error()
}
