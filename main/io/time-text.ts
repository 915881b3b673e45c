/** Dates and times as Python prints them, from counts since 1970: of any year, to the nanosecond. */

const DAY = 86_400_000_000_000n;

/** `2024-01-31`. */
export function dateText(days: number): string {
  // Years begin in March here, so that a leap day is a year's last; 400 years have 146097 days.
  const sinceMarch0 = days + 719_468;
  const era = Math.floor(sinceMarch0 / 146_097);
  const day = sinceMarch0 - era * 146_097;
  const yearOfEra = Math.floor(
    (day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365,
  );
  const dayOfYear = day - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0);
  const parts = [month >= 10 ? month - 9 : month + 3, dayOfYear - Math.floor((153 * month + 2) / 5) + 1];
  return [`${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}`, ...parts.map(twoDigits)].join('-');
}

/** `10:01:00`, with `.123456` or nine digits where there is a fraction. */
export function timeText(nanoseconds: bigint): string {
  const seconds = Number(nanoseconds / 1_000_000_000n);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(twoDigits).join(':');
  const fraction = String(nanoseconds % 1_000_000_000n).padStart(9, '0');
  if (Number(fraction) === 0) return clock;
  return `${clock}.${fraction.endsWith('000') ? fraction.slice(0, 6) : fraction}`;
}

/** `2024-01-31 10:01:00`, with `+00:00` where it is of UTC. */
export function momentText(nanoseconds: bigint, isUtc: boolean): string {
  const inDay = ((nanoseconds % DAY) + DAY) % DAY;
  return `${dateText(Number((nanoseconds - inDay) / DAY))} ${timeText(inDay)}${isUtc ? '+00:00' : ''}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
