import { writable } from 'svelte/store';

export interface Item {
  id: string;
  price: number;
  count: number;
}

export const items = writable<Item[]>([]);

/** Adds an item, or one more of it. */
export function add(item: Item): void {
  items.update((list) => {
    const known = list.find((i) => i.id === item.id);
    if (known) {
      known.count += 1;
      return list;
    }
    return [...list, item];
  });
}

export const total = (list: Item[]): number => {
  return list.reduce((sum, i) => sum + i.price * i.count, 0);
};

export class Checkout {
  private paid = false;

  constructor(private list: Item[]) {}

  async pay(amount: number): Promise<boolean> {
    if (amount < total(this.list)) {
      return false;
    }
    this.paid = true;
    return this.paid;
  }
}
