/** Pinned facts of one branch that the other lacks. */
import type { PinView } from '$lib/backend/types';

export interface PinDifference {
  left: PinView[];
  right: PinView[];
  /** How many facts both have. */
  same: number;
}

export function differingPins(left: readonly PinView[], right: readonly PinView[]): PinDifference {
  const [mine, theirs] = [new Set(left.map((pin) => pin.text)), new Set(right.map((pin) => pin.text))];
  return { left: left.filter((pin) => !theirs.has(pin.text)), right: right.filter((pin) => !mine.has(pin.text)), same: left.filter((pin) => theirs.has(pin.text)).length };
}
