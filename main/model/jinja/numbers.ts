/** Exact decimal digits of floats, rounded half to even as Python does. */

/** The float as numerator over 2 to the power. */
function fraction(value: number): readonly [bigint, bigint] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & ((1n << 52n) - 1n)) | (exponent === 0 ? 0n : 1n << 52n);
  const power = Math.max(exponent, 1) - 1075;
  return power >= 0 ? [mantissa << BigInt(power), 1n] : [mantissa, 1n << BigInt(-power)];
}

function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const [quotient, rest] = [numerator / denominator, numerator % denominator];
  const twice = rest * 2n;
  return twice > denominator || (twice === denominator && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

/** The absolute value times 10 to the power of `digits`, as a whole number. */
function scaled(value: number, digits: number): bigint {
  const [numerator, denominator] = fraction(value);
  return digits >= 0
    ? divideHalfEven(numerator * 10n ** BigInt(digits), denominator)
    : divideHalfEven(numerator, denominator * 10n ** BigInt(-digits));
}

/** The absolute value with so many digits after the point. */
export function fixed(value: number, digits: number): string {
  const text = scaled(value, digits)
    .toString()
    .padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** The absolute value's first digits and the power of ten of the first: 1234 with two is ['12', 3]. */
export function leading(value: number, count: number): readonly [string, number] {
  if (value === 0) return ['0'.repeat(count), 0];
  const power = Number(Math.abs(value).toExponential().split('e')[1]);
  const digits = scaled(value, count - 1 - power).toString();
  return digits.length > count ? [digits.slice(0, count), power + 1] : [digits, power];
}

/** Python's round(value, digits). */
export function rounded(value: number, digits: number): number {
  if (!Number.isFinite(value) || digits > 323) return value;
  if (digits < -308) return Object.is(Math.sign(value), -1) ? -0 : 0;
  const text = digits >= 0 ? fixed(value, digits) : `${scaled(value, digits)}e${-digits}`;
  return (value < 0 || Object.is(value, -0) ? -1 : 1) * Number(text);
}
