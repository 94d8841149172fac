/** What a model may be told about how long to think. */
export const efforts: { value: string; label: string }[] = [
  { value: '', label: 'Model default' },
  { value: 'minimal', label: 'Minimal' },
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
];

/** Why a temperature cannot be taken; empty if it can. A comma is a point. */
export function temperatureFault(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const value = /^\d*[.,]?\d+$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : Number.NaN;
  return value >= 0 && value <= 2 ? '' : 'A number from 0 to 2, or nothing';
}

/** Whether models of a session may call tools. */
export const toolModes = [
  { value: '', label: 'As in the settings' },
  { value: 'disabled', label: 'Off' },
  { value: 'parse_only', label: 'Show calls only' },
  { value: 'enabled', label: 'On' },
];
