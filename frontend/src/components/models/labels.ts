/** Texts about models: their windows, abilities and prices, and the order in which they are offered. */
import type { ModelView, OfferView } from '$lib/backend/types';
import type { PlaceOffers } from '$lib/state/modelPicker.svelte';
import { program } from '$lib/i18n/program';
import { t } from '$lib/i18n/i18n.svelte';
import { formatDecimal, formatCount, joinFacts } from '$shared/format';
import { providerName } from '../settings/providers';

/** "200k", or "?" if unknown. */
export function windowWord(tokens: number, source = ''): string {
  if (tokens <= 0 || source === 'unknown window') return '?';
  return tokens >= 1000 ? t('shared.thousands', { thousands: thousandsOf(tokens) }) : formatCount(tokens);
}

/** Windows are sold in powers of two or of ten: 32 768 is 32k, and 200 000 is 200k. */
export const thousandsOf = (tokens: number): number => Math.round(tokens / (tokens % 8_192 === 0 ? 1_024 : 1_000));

/** "images, tools"; empty if nothing is known. */
export function abilityText(model: Pick<ModelView, 'images' | 'tools' | 'reasoning'>): string {
  return joinFacts((['images', 'tools', 'reasoning'] as const).filter((ability) => model[ability] === 'yes').map((ability) => t(`models.${ability}`)));
}

/** "$3 in, $15 out" per million tokens, marked if it is an estimate. Empty if the price is not known. */
export function priceText(model: Pick<ModelView, 'priceInput' | 'priceOutput' | 'priceSource' | 'local'>): string {
  if (model.priceSource === '') return model.local ? t('models.runsHere') : '';
  if (model.priceInput === 0 && model.priceOutput === 0) return t('models.costsNothing');
  const price = (usd: number) => formatDecimal(usd, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', minimumFractionDigits: 0, maximumFractionDigits: 4 });
  return t(model.priceSource === 'configured' ? 'models.prices' : 'models.pricesEstimate', { input: price(model.priceInput), output: price(model.priceOutput) });
}

/** A model that can be chosen: already configured, or offered by a place. */
export interface Choice {
  id: string;
  name: string;
  detail: string;
  window: string;
  abilities: string;
  price: string;
  disabledReason: string;
  favourite: boolean;
  /** For a configured model. */
  model?: ModelView;
  /** For a model that is not configured yet. */
  offer?: { at: PlaceOffers; offer: OfferView };
}

export interface ChoiceGroup {
  title: string;
  choices: Choice[];
  /** Further matches that are not shown. */
  more: number;
  note: string;
}

/** How many models of a group are shown at once; the search finds the others. */
const shownOffers = 60;

function ofModel(model: ModelView): Choice {
  const detail = model.provider === 'recall' ? t('header.builtIn') : joinFacts([providerName(model.provider), model.modelId !== model.name && model.modelId]);
  return {
    id: `model ${model.name}`, name: model.name, detail: detail, window: model.provider === 'recall' ? '' : windowWord(model.contextLimit, model.limitSource),
    abilities: abilityText(model), price: priceText(model), disabledReason: model.usable ? '' : program(model.reason) || t('header.cannotBeUsed'), favourite: model.favourite, model,
  };
}

function ofOffer(at: PlaceOffers, offer: OfferView): Choice {
  return {
    id: `offer ${at.place.id} ${offer.modelId}`, name: offer.modelId, detail: at.place.name, window: windowWord(offer.window),
    abilities: abilityText(offer), price: priceText({ ...offer, local: at.place.local }), disabledReason: '', favourite: false, offer: { at, offer },
  };
}

const matches = (choice: Choice, words: readonly string[]) => {
  const text = `${choice.name} ${choice.detail} ${choice.abilities}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

/** Favourites, recently used ones, the other configured models, then the other models of each place. */
export function choiceGroups(models: readonly ModelView[], recent: readonly string[], places: readonly PlaceOffers[], search: string): ChoiceGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const known = models.map(ofModel).filter((choice) => matches(choice, words));
  const favourites = known.filter((choice) => choice.favourite);
  const used = recent.map((name) => known.find((choice) => choice.name === name && !choice.favourite)).filter((choice) => choice !== undefined);
  const others = known.filter((choice) => !choice.favourite && !used.includes(choice));
  const group = (title: string, choices: Choice[]): ChoiceGroup => ({ title, choices, more: 0, note: '' });
  const offered = places.map((at) => {
    const all = at.offers.filter((offer) => offer.configured === '' && !models.some((model) => model.modelId === offer.modelId && model.baseUrl === at.place.baseUrl)).map((offer) => ofOffer(at, offer)).filter((choice) => matches(choice, words));
    const note = at.loading ? t('models.asking') : (at.error?.message ?? (at.offers.length === 0 ? t('models.noModels') : ''));
    return { title: t('models.moreFrom', { place: at.place.name }), choices: all.slice(0, shownOffers), more: Math.max(0, all.length - shownOffers), note };
  });
  return [group(t('models.favourites'), favourites), group(t('models.recent'), used), group(t('models.yours'), others), ...offered].filter((entry) => entry.choices.length > 0 || (entry.note !== '' && words.length === 0));
}
