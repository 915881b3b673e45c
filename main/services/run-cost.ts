/** What training takes: time from the trainer's own estimate, money from an hourly price. */

export interface RunCost {
  readonly seconds: number;
  /** null without a price. */
  readonly cost: number | null;
  readonly currency: string;
}

/** Time and money of some seconds at a price an hour; a price of 0 means that none is set. */
export function costOf(seconds: number, price: { readonly hourly_price: number; readonly currency: string }): RunCost {
  const cost = price.hourly_price > 0 ? (seconds / 3600) * price.hourly_price : null;
  return { seconds, cost, currency: price.currency };
}
