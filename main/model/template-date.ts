/** The one day that chat templates get: a prompt must not change from day to day. */
import { refuse } from './jinja/errors.ts';

export const TEMPLATE_DATE = '26 Jul 2024';

/** That day, at midnight, by the directives of Python's strftime; a second text is that of `%-d`. */
const TEMPLATE_DAY: Readonly<Record<string, string | readonly [string, string]>> = {
  a: 'Fri',
  A: 'Friday',
  b: 'Jul',
  h: 'Jul',
  B: 'July',
  c: 'Fri Jul 26 00:00:00 2024',
  C: '20',
  d: '26',
  D: '07/26/24',
  x: '07/26/24',
  e: '26',
  F: '2024-07-26',
  g: '24',
  G: '2024',
  y: '24',
  Y: '2024',
  H: ['00', '0'],
  I: '12',
  k: [' 0', '0'],
  l: '12',
  j: '208',
  m: ['07', '7'],
  M: ['00', '0'],
  S: ['00', '0'],
  p: 'AM',
  P: 'am',
  r: '12:00:00 AM',
  R: '00:00',
  T: '00:00:00',
  X: '00:00:00',
  f: ['000000', '%-f'],
  u: '5',
  w: '5',
  U: '29',
  V: '30',
  W: '30',
  z: '',
  Z: '',
  n: '\n',
  t: '\t',
  '%': '%',
};

/** strftime of that day. */
export function pinnedDay(format: string): string {
  return format.replace(/%(-?)([_^#0-9]+[A-Za-z]?|[EO][A-Za-z]|[A-Za-z%]?)/g, (whole, short: string, key: string) => {
    if (/^[_^#0-9s]|^[EO]./.test(key)) refuse(`"%${short}${key}" of strftime_now()`);
    const day = TEMPLATE_DAY[key];
    if (day === undefined) return whole;
    return typeof day === 'string' ? day : day[short === '' ? 0 : 1];
  });
}
