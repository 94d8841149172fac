package librarian_test

import (
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// expectedState is an exchange and the state summary after it, as written by a careful reader.
type expectedState struct{ user, assistant, state string }

// otherDomains are conversations that are not about software: a dinner, a legal case, a journey. Numbers are written
// as words and as digits, and dropped or rejected plans are expressed in different ways.
var otherDomains = map[string][]expectedState{
	"cooking": {
		{
			"I'm hosting a dinner for eight on Saturday, 14 June. My sister-in-law Greta is coeliac and two guests don't eat pork. I'd like three courses and I have about £90 to spend. My oven only goes up to 230 °C.",
			"Lovely! Here is a plan:\n\n**Starter**: chilled pea soup with mint\n**Main**: slow-roast shoulder of lamb with potatoes\n**Dessert**: flourless chocolate cake\n\nYou should buy the lamb by Thursday. Rest it for 30 minutes.",
			"## Facts\n- Dinner for 8 on Saturday 14 June; three courses; budget about £90.\n- Greta (sister-in-law) has coeliac disease; two guests eat no pork.\n- Oven max. 230°C.\n\n## Decisions\n\n## Constraints\n- No gluten for Greta; no pork.\n\n## Artifacts\n\n## Open tasks\n- Settle the menu (suggested: pea soup, lamb shoulder, flourless chocolate cake).\n",
		},
		{
			"Lamb is too expensive. Let's do chicken thighs instead, 16 of them. And never use my good cast-iron pan for tomato, it strips the seasoning.",
			"Good choice: braise the thighs with tomato, olives and capers in an enamel pot, 45 minutes at 180 °C.",
			"## Facts\n- Dinner for eight, Saturday 14 June, 3 courses, ~£90.\n- Greta is coeliac; two guests don't eat pork. Oven goes to 230 °C at most.\n\n## Decisions\n- Main course: 16 chicken thighs (was lamb, too expensive).\n\n## Constraints\n- Gluten-free for Greta, nothing with pork.\n- Never cook tomato in the cast-iron pan.\n\n## Artifacts\n\n## Open tasks\n- Starter and dessert not settled.\n",
		},
		{
			"The cake must be ready by 5 pm because I have to collect Greta from the station at 17:40. Can you give me a timeline for the day?",
			"| Time | What |\n|---|---|\n| 13:00 | bake the cake |\n| 15:00 | make the soup |\n| 17:00 | cake out of the tin |\n| 18:30 | thighs into the oven |",
			"## Facts\n- 14 June (Sat): dinner, 8 people, three courses, £90 budget.\n- Greta: coeliac, arrives by train, to be collected at 5:40 pm. Two guests: no pork.\n- Oven: 230 °C maximum.\n\n## Decisions\n- Chicken thighs (16) rather than lamb.\n- Timeline: cake 1 pm, soup 3 pm, thighs in at 6:30 pm.\n\n## Constraints\n- Cake finished no later than 17:00.\n- No gluten, no pork. No tomato in the cast iron.\n\n## Artifacts\n\n## Open tasks\n",
		},
	},
	"law": {
		{
			"My landlord, Mr Havel of Kestrel Lettings, kept my deposit of €1,450 after I moved out of Flat 6B on 31 January 2025. The contract says in clause 14.2 that it must be returned within 28 days. What can I do? Please don't quote statutes at me, plain words only.",
			"You can:\n1. Write a letter demanding repayment within 14 days\n2. Ask for an itemised list of deductions\n3. Go to the deposit scheme's free dispute service\n\nYou should keep photos of the flat.",
			"## Facts\n- User moved out of Flat 6B on 31 January 2025.\n- Landlord: Mr Havel, Kestrel Lettings; he withholds the €1450 deposit.\n- Clause 14.2: return within 28 days.\n\n## Decisions\n\n## Constraints\n- Plain words, no statutes quoted.\n\n## Artifacts\n- clause 14.2\n\n## Open tasks\n- Get the deposit back (options: letter, itemised list, dispute service).\n",
		},
		{
			"He now claims €380 for cleaning and €210 for a broken blind. The blind was already broken when I moved in; it is in the inventory of 3 March 2022, page 4. I'll accept up to €100 for cleaning but not a cent for the blind.",
			"That is a fair position. Write that the inventory of 3 March 2022 records the blind as broken, attach page 4, and offer €100 without prejudice.",
			"## Facts\n- Deposit of €1,450 held back by Mr Havel (Kestrel Lettings); move-out from 6B on 31 Jan 2025.\n- He wants €380 cleaning + €210 blind. Blind was broken at move-in: inventory 3 March 2022, p. 4.\n\n## Decisions\n- Pay at most €100 for cleaning, nothing for the blind.\n\n## Constraints\n- Plain language without statutes.\n\n## Artifacts\n- clause 14.2 (28 days)\n\n## Open tasks\n- Write the letter.\n",
		},
		{
			"Draft it, but it must not sound aggressive, and it has to go out before Friday. Address: 12 Quay Street, Dorchester. My reference is KL-2209.",
			"Dear Mr Havel,\n\nI refer to our tenancy of Flat 6B (ref. KL-2209) ...",
			"## Facts\n- Dispute about a €1,450 deposit with Mr Havel of Kestrel Lettings after leaving 6B on 31/01/2025; he demands €380 (cleaning), €210 (blind).\n- The blind was in the inventory of 3 March 2022 on page 4 as broken.\n- Address: 12 Quay Street, Dorchester.\n\n## Decisions\n- At most €100 for cleaning, blind refused.\n- Letter drafted.\n\n## Constraints\n- Friendly tone; sent by Thursday.\n- No statutes.\n\n## Artifacts\n- KL-2209\n- clause 14.2\n\n## Open tasks\n- Send the letter.\n",
		},
	},
	"travel": {
		{
			"We're a family of five (kids 4, 9 and 13) and want to spend 12 days in Slovenia from July 19. We'd rather not drive more than two hours in one go, and my husband Aleks can't do heights. Budget is 3800 EUR without flights.",
			"Nice! A possible route: Ljubljana (3 nights), Lake Bled (3), Soča valley (4), Piran (2). The Vogel cable car would not suit Aleks.",
			"## Facts\n- Family of 5, children aged 4, 9, 13; husband Aleks.\n- Slovenia, 12 days from 19 July; 3,800 euros excluding flights.\n\n## Decisions\n\n## Constraints\n- Max. 2 h driving at a stretch.\n- Aleks is afraid of heights: avoid them.\n\n## Artifacts\n\n## Open tasks\n- Choose a route (proposal: Ljubljana, Bled, Soča valley, Piran).\n",
		},
		{
			"Skip Piran, we decided to add the two nights to Bled. We booked the campsite Šobec, pitch 118, confirmation SB-77310, check-in after 14:00. Our flight JP 943 lands at 11:25.",
			"Great. From the airport to Šobec it is 35 minutes by car.",
			"## Facts\n- 5 people (kids 4, 9, 13), Slovenia, July 19, twelve days, €3800 w/o flights.\n- Flight JP943 arrives 11:25. Camp Šobec: pitch 118, check-in from 2 pm.\n\n## Decisions\n- Bled gets two more nights, no Piran.\n- Campsite Šobec booked.\n\n## Constraints\n- No more than two hours' drive in one go.\n- Nothing with heights (Aleks).\n\n## Artifacts\n- SB-77310\n- JP 943\n\n## Open tasks\n",
		},
		{
			"The rental car must have three child seats, and please always give distances in minutes, not km. The 9-year-old, Lena, is allergic to peanuts, so restaurants need to be told.",
			"Noted. In Slovene: 'Alergija na arašide'.",
			"## Facts\n- Family of five with kids (4, 9 = Lena, 13); Slovenia from 19 July for 12 days; 3800 EUR, flights extra.\n- JP 943 lands 11:25; Šobec pitch 118 (SB-77310), check-in after 14:00.\n- Lena has a peanut allergy: tell restaurants.\n\n## Decisions\n- Piran dropped, 2 nights more at Bled.\n\n## Constraints\n- Car with 3 child seats.\n- Distances always in minutes instead of km.\n- Drives of two hours at most; no heights for Aleks.\n\n## Artifacts\n- SB-77310\n- JP 943\n\n## Open tasks\n",
		},
	},
}

// TestOtherDomains: state summaries with other words than the user's are accepted at the first attempt, and only what
// they really lost is added.
func TestOtherDomains(t *testing.T) {
	required, added := 0, []string{}
	for name, list := range otherDomains {
		model, rule, count := "", "", counter()
		for i, x := range list {
			tn := turn(x.user, x.assistant)
			tn.Seq = int64(i + 1)
			m := &script{answers: []string{x.state}}
			got := librarian.Librarian{}.Update(t.Context(), librarian.Update{Previous: model, Turns: []chat.Turn{tn}, Count: count, Model: m})
			if got.Origin != chat.StateLibrarian || len(m.requests) != 1 {
				t.Errorf("%s %d: %s after %d calls", name, i+1, got.Origin, len(m.requests))
			}
			var check struct {
				Required int
				Added    []string
			}
			if err := json.Unmarshal(got.Validation, &check); err != nil {
				t.Fatal(err)
			}
			required, added, model = required+check.Required, append(added, check.Added...), got.Summary
			rule = librarian.Fallback(librarian.Update{Previous: rule, Turns: []chat.Turn{tn}, Count: count}).Summary
		}
		if name == "cooking" && !strings.Contains(rule, "Let's do chicken thighs instead") {
			t.Errorf("with the rules only, the main course is lost:\n%s", rule)
		}
	}
	if required < 25 || len(added) > 4 {
		t.Errorf("%d entries, of which %d were added: %q", required, len(added), added)
	}
}
