/** What a template assigns to. */
import { PyError } from './errors.ts';
import { type Frame, ownerOf, reader, type Scope } from './frame.ts';
import { Namespace } from './globals.ts';
import { itemsOf } from './iterate.ts';
import { syntaxError } from './lexer.ts';
import type { Expr } from './nodes.ts';
import type { Value } from './values.ts';

export interface Assign {
  readonly setsNamespace: boolean;
  /** Before the value is computed: an attribute of a namespace can be set, of nothing else. */
  check(frame: Frame): void;
  to(frame: Frame, value: Value): void;
}

export function compileTarget(target: Expr, { symbols }: Pick<Scope, 'symbols'>): Assign {
  if (target.type === 'Tuple') {
    const parts = target.items.map((part) => compileTarget(part, { symbols }));
    return {
      setsNamespace: parts.some(({ setsNamespace }) => setsNamespace),
      check: (frame) => {
        for (const part of parts) part.check(frame);
      },
      to: (frame, value) => unpack(parts, frame, value),
    };
  }
  if (target.type === 'NSRef') {
    const read = reader(symbols.ref(target.name), symbols.scope);
    const namespace = (frame: Frame): Namespace => {
      const found = read(frame);
      if (found instanceof Namespace) return found;
      throw new PyError('TemplateError', `cannot assign attribute on non-namespace object "${target.name}"`);
    };
    return {
      setsNamespace: true,
      check: namespace,
      to: (frame, value) => namespace(frame).set(target.attribute, value),
    };
  }
  if (target.type !== 'Name') return syntaxError("can't assign to this", target.line);
  const ref = symbols.ref(target.name);
  const owner = ownerOf(ref, symbols.scope);
  return {
    setsNamespace: false,
    check: () => {},
    to: (frame, value) => {
      owner(frame).slots[ref.slot] = value;
    },
  };
}

function unpack(parts: readonly Assign[], frame: Frame, value: Value): void {
  const values = itemsOf(value, frame.run);
  if (values.length !== parts.length)
    throw new PyError('ValueError', `expected ${parts.length} values to unpack, got ${values.length}`);
  parts.forEach((part, i) => {
    part.to(frame, values[i] ?? null);
  });
}
