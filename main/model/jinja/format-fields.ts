/** Python's `text.format(…)`. */
import { PyError } from './errors.ts';
import { format } from './format-spec.ts';
import { ascii, joined, repr, toText } from './print.ts';
import type { Run } from './run.ts';
import { plain, type Str, slice } from './text.ts';
import type { Value } from './values.ts';

/** How a field reads an attribute or an item of a value. */
export interface Access {
  attribute(of: Value, name: string): Value;
  item(of: Value, key: Value): Value;
  /** A value of format() by its position or name. */
  value(key: number | string): Value;
}

export function formatFields(text: Str, access: Access, run: Run): Str {
  let counted = 0;
  let numbering: 'automatic' | 'manual' | null = null;
  const numbered = (key: string): number | string => {
    const own = key === '' ? 'automatic' : /^\d+$/.test(key) ? 'manual' : null;
    if (own === null) return key;
    if (numbering !== null && numbering !== own) invalid('cannot switch between manual and automatic field numbering');
    numbering = own;
    return key === '' ? counted++ : Number(key);
  };
  return filled(text, 2);

  function filled(pattern: Str, depth: number): Str {
    if (depth < 0) invalid('Max string recursion exceeded');
    const whole = plain(pattern);
    const parts: Str[] = [];
    let at = 0;
    let done = 0;
    while (at < whole.length) {
      const brace = whole[at];
      if (brace !== '{' && brace !== '}') {
        at += 1;
        continue;
      }
      parts.push(slice(pattern, done, at));
      if (whole[at + 1] === brace) {
        parts.push(slice(pattern, at, at + 1));
        at += 2;
      } else if (brace === '}') invalid("Single '}' encountered in format string");
      else {
        const end = endOf(whole, at);
        parts.push(field(pattern, at + 1, end, depth));
        at = end + 1;
      }
      done = at;
    }
    return joined([...parts, slice(pattern, done)], run);
  }

  function field(pattern: Str, start: number, end: number, depth: number): Str {
    run.step();
    const inside = plain(pattern).slice(start, end);
    const [name = ''] = /^(?:\[[^\]]*\]|[^:![])*/.exec(inside) ?? [];
    if (/[{]/.test(name)) invalid("unexpected '{' in field name");
    const rest = inside.slice(name.length);
    const [, conversion, colon] = /^(?:!(.))?(:)?/su.exec(rest) ?? [];
    const used = (conversion === undefined ? 0 : conversion.length + 1) + (colon === undefined ? 0 : 1);
    if (colon === undefined && used < rest.length) invalid("expected ':' after conversion specifier");
    const value = lookup(name);
    const spec = filled(slice(pattern, start + name.length + used, end), depth - 1);
    return format(converted(value, conversion), plain(spec), run);
  }

  function lookup(name: string): Value {
    const [first = ''] = /^[^.[]*/.exec(name) ?? [];
    let value = access.value(numbered(first));
    let at = first.length;
    while (at < name.length) {
      const [part, attribute, key] =
        /^(?:\.([^.[]+)|\[([^\]]+)\])/.exec(name.slice(at)) ?? invalid('Empty attribute in format string');
      if (attribute !== undefined) value = access.attribute(value, attribute);
      else value = access.item(value, /^\d+$/.test(key ?? '') ? BigInt(key ?? '') : (key ?? ''));
      at += part.length;
    }
    return value;
  }

  function converted(value: Value, conversion: string | undefined): Value {
    if (conversion === undefined) return value;
    if (conversion === 's') return toText(value, run);
    if (conversion === 'r') return repr(value, run);
    return conversion === 'a' ? ascii(value, run) : invalid(`Unknown conversion specifier ${conversion}`);
  }
}

/** The brace that ends a field. */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === '{') depth += 1;
    if (text[i] === '}') depth -= 1;
    if (depth === 0) return i;
  }
  return invalid("expected '}' before end of string");
}

function invalid(message: string): never {
  throw new PyError('ValueError', message);
}
