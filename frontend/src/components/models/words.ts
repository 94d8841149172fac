/** Models in words: what they hold, can do and cost, and in which order they are offered. */
import type { ModelView, OfferView } from '$lib/backend/types';
import type { PlaceOffers } from '$lib/state/modelPicker.svelte';
import { grouped } from '$shared/format';
import { providerName } from '../settings/providers';

/** "200k", or "?" where nobody knows. */
export function windowWord(tokens: number, source = ''): string {
  if (tokens <= 0 || source === 'unknown window') return '?';
  return tokens >= 1000 ? `${grouped(Math.round(tokens / 1000))}k` : grouped(tokens);
}

/** "images, tools"; empty where nobody says any of it. */
export function abilityWords(model: Pick<ModelView, 'images' | 'tools' | 'reasoning'>): string {
  return (['images', 'tools', 'reasoning'] as const).filter((ability) => model[ability] === 'yes').join(', ');
}

/** "$3 in, $15 out per million tokens", with a sign where it is an estimate. */
export function priceWords(model: Pick<ModelView, 'priceInput' | 'priceOutput' | 'priceSource'>): string {
  if (model.priceSource === '') return '';
  const amounts = (currency: string) => `${currency}${model.priceInput} in, ${currency}${model.priceOutput} out`;
  return model.priceSource === 'configured' ? amounts('') : `about ${amounts('$')}`;
}

/** One model that can be chosen: configured already, or offered by a place. */
export interface Choice {
  id: string;
  name: string;
  detail: string;
  window: string;
  can: string;
  price: string;
  why: string;
  favourite: boolean;
  /** of a configured model */
  model?: ModelView;
  /** of one that is not configured yet */
  offer?: { at: PlaceOffers; offer: OfferView };
}

export interface ChoiceGroup {
  title: string;
  choices: Choice[];
  /** matching ones that are not shown */
  more: number;
  note: string;
}

/** What a group shows at once; the search finds the rest. */
const shownOffers = 60;

function ofModel(model: ModelView): Choice {
  const whose = model.provider === 'recall' ? 'Built in, from your own history' : [providerName(model.provider), model.modelId === model.name ? '' : model.modelId].filter(Boolean).join(', ');
  return {
    id: `model ${model.name}`, name: model.name, detail: whose, window: model.provider === 'recall' ? '' : windowWord(model.contextLimit, model.limitSource),
    can: abilityWords(model), price: priceWords(model), why: model.usable ? '' : model.why || 'Cannot be used', favourite: model.favourite, model,
  };
}

function ofOffer(at: PlaceOffers, offer: OfferView): Choice {
  return {
    id: `offer ${at.place.id} ${offer.modelId}`, name: offer.modelId, detail: at.place.name, window: windowWord(offer.window),
    can: abilityWords(offer), price: priceWords(offer), why: '', favourite: false, offer: { at, offer },
  };
}

const holds = (choice: Choice, words: readonly string[]) => {
  const text = `${choice.name} ${choice.detail} ${choice.can}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

/** Favourites, what was used last, the other configured models, then what each place offers beside them. */
export function choiceGroups(models: readonly ModelView[], recent: readonly string[], places: readonly PlaceOffers[], search: string): ChoiceGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const known = models.map(ofModel).filter((choice) => holds(choice, words));
  const favourites = known.filter((choice) => choice.favourite);
  const used = recent.map((name) => known.find((choice) => choice.name === name && !choice.favourite)).filter((choice) => choice !== undefined);
  const others = known.filter((choice) => !choice.favourite && !used.includes(choice));
  const group = (title: string, choices: Choice[]): ChoiceGroup => ({ title, choices, more: 0, note: '' });
  const offered = places.map((at) => {
    const all = at.offers.filter((offer) => offer.configured === '' && !models.some((model) => model.modelId === offer.modelId && model.baseUrl === at.place.baseUrl)).map((offer) => ofOffer(at, offer)).filter((choice) => holds(choice, words));
    const note = at.loading ? 'Asking for its models…' : (at.error?.message ?? (at.offers.length === 0 ? 'It has no model.' : ''));
    return { title: `More from ${at.place.name}`, choices: all.slice(0, shownOffers), more: Math.max(0, all.length - shownOffers), note };
  });
  return [group('Favourites', favourites), group('Recent', used), group('Your models', others), ...offered].filter((one) => one.choices.length > 0 || (one.note !== '' && words.length === 0));
}
