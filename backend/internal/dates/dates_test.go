package dates_test

import (
	"testing"
	"time"

	"contextinfinity/backend/internal/dates"
)

func TestParse(t *testing.T) {
	cases := map[string][]string{
		"2023-12-30T15:04:05.123Z": {
			"2023-12-30T15:04:05.123Z", "2023-12-30T16:04:05.123456+01:00", "2023-12-30T16:04:05,123+0100", "1703948645.123", "1703948645123",
			"1703948645123000", "1703948645123000000", "2023-12-30 15:04:05.123", "2023-12-30t15:04:05.123z", "1.703948645123e9",
			"2023-12-30T16:04:05.123+01:00[Europe/Berlin]",
		},
		"2023-12-30T15:04:05.000Z": {
			"Sat, 30 Dec 2023 15:04:05 GMT", "Sat, 30 Dec 2023 16:04:05 +0100", "Sat, 30 Dec 2023 10:04:05 EST", "30 Dec 2023 16:04:05 CET",
			"Sat Dec 30 15:04:05 2023", "Sat Dec 30 2023 16:04:05 GMT+0100 (Central European Standard Time)", "Sat Dec 30 15:04:05 UTC 2023",
			"20231230T150405Z", "20231230150405", "20231230 150405", "December 30, 2023 3:04:05 PM", "12/30/2023, 3:04:05 PM", "30.12.2023, 15:04:05",
			"30/12/2023 15:04:05", "2023-12-30 16:04:05+01", "2023-12-30 15:04:05 UTC", "Samstag, 30. Dezember 2023, 15:04:05 Uhr",
		},
		"2023-12-30T15:04:00.000Z": {
			"2023-12-30T15:04", "2023-12-30T15:04Z", "2023/12/30 15:04", "2023/12/30 (Sat) 15:04", "30.12.2023 15:04", "3:04 pm on 30 December, 2023",
			"3:04 PM on 30 December 2023", "30 Dec 2023 at 3:04 p.m.", "30. Dezember 2023 um 15:04", "30 décembre 2023 à 15h04", "30 de diciembre de 2023 15:04",
			"2023年12月30日 15:04", "2023년 12월 30일 15:04", "202312301504", "30 декабря 2023 г. 15:04", "30-Dec-2023 15:04",
		},
		"2023-12-30T00:00:00.000Z": {
			"2023-12-30", "2023/12/30", "2023.12.30", "2023. 12. 30.", "20231230", "30.12.2023", "30/12/2023", "12/30/2023", "30-12-2023", "December-30-2023",
			"December 30, 2023", "30 December 2023", "30th of December 2023", "Dec 30th, 2023", "2023 Dec 30", "2023-Dec-30", "30 Dez. 2023", "Sa., 30.12.2023",
			"Dec-30-2023", "December-30th-2023", "30/Dec/2023", "30-Dezember-2023", "Sat, 30-Dec-2023", "dec.30.2023", "30.Dec.2023", "Dec/30/2023", "30. Dez. 2023",
			"sábado, 30 de diciembre de 2023", "30 dicembre 2023", "30 grudnia 2023",
		},
		"2023-05-05T00:00:00.000Z": {"5/5/2023", "05-05-2023", "5.5.2023"},
		"2024-04-03T00:00:00.000Z": {"03.04.2024", "3. 4. 2024"},
		"2023-12-30T12:30:00.000Z": {"12:30 pm 30 Dec 2023", "30.12.2023 12:30"},
		"2023-12-30T00:30:00.000Z": {"12:30 am 30 Dec 2023"},
		"2023-12-30T15:00:00.000Z": {"30 Dec 2023 3 pm", "30 Dec 2023, 3pm"},
		"2023-12-29T23:30:00.000Z": {"2023-12-30 05:00 +05:30"},
	}
	for want, forms := range cases {
		for _, form := range forms {
			got, ok := dates.Parse(form)
			if text := got.Format("2006-01-02T15:04:05.000Z"); !ok || text != want || got.Location() != time.UTC {
				t.Errorf("%q is %s, %v; want %s", form, text, ok, want)
			}
		}
	}
}

// Ambiguous and invalid dates are not read.
func TestNotRead(t *testing.T) {
	for _, text := range []string{
		"", " ", "soon", "yesterday", "0", "-5", "5", "2023", "45290", "1e300", "Inf", "NaN", "true",
		"03/04/2024", "03-04-2024", "3/4/24", "30/12/23", "30.12.23", "23-12-30", "12.30.2023", "30 Dec 23",
		"2023-02-30", "31.11.2023", "2023-13-01", "20231340", "2023-12-30 25:00", "2023-12-30 15:60", "2023-12-30 13:04 pm",
		"2023-12", "Dec 2023", "2023-W52-6", "15:04", "Monday", "30 December", "2023-12-30 15:04 CST", "2023-12-30 15:04 XYZ", "2023-12-30 15:04 +25:00",
		"2023-12-30 and 2023-12-31", "2023-12-30 15:04 16:05", "0001-01-01T00:00:00Z", "9999-12-31", "1903-12-30", "30 Dec 2023 extra", "x2023-12-30",
	} {
		if got, ok := dates.Parse(text); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// Any text is a plausible date or none, and an ISO 8601 date is read as itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1700000000.5", "30.12.2023 15:04", "3 pm on 2 May, 2023", "1e308", "(", "2023年1月2日", "20231230T150405+0100"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := dates.Parse(text)
		if !ok {
			return
		}
		if got.Year() < 1970 || got.Year() > 2200 || got.Location() != time.UTC {
			t.Fatalf("%q is %v", text, got)
		}
		if again, ok := dates.Parse(got.Format(time.RFC3339Nano)); !ok || !again.Equal(got) {
			t.Fatalf("%q is %v, but formatted and parsed again it is %v", text, got, again)
		}
	})
}
