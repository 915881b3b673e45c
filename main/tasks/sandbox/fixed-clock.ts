/** What would differ from call to call: the clock, the time zone and chance. A completion's reward must not. */

/** JavaScript that replaces the clock; `now`: what it shows. Dates that are given work as ever. */
function clock(now: string): string {
  return `{
  const { construct } = Reflect;
  const now = ${now};
  const Real = Date;
  Real.now = now;
  globalThis.Date = Real.prototype.constructor = new Proxy(Real, {
    __proto__: null,
    apply: () => '' + construct(Real, [now()]),
    construct: (_, given, target) => construct(Real, given.length === 0 ? [now()] : given, target),
  });
}`;
}

/** For reward.ts, which must not ask. */
export const NO_CLOCK = `${clock(`() => {
  throw new TypeError('The clock (Date.now, Date and new Date without a date) is not available: the same completion must always get the same reward. Give the date in the record');
}`)}
Math.random = () => {
  throw new TypeError('Math.random is not available: the same completion must always get the same reward');
};`;

/** For a program that a model wrote, which may: it always gets the same answers. */
export const SAME_CLOCK = `${clock('() => 946684800000')}
{
  let state = 1;
  Math.random = () => (state = (state * 16807) % 2147483647) / 2147483647;
}`;

const PARTS = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'] as const;

/** QuickJS asks this thread's Date for the local time: it gets UTC, wherever the machine is. */
export function setUtc(): void {
  for (const part of PARTS) Date.prototype[`get${part}`] = Date.prototype[`getUTC${part}`];
  Date.prototype.getTimezoneOffset = () => 0;
}
