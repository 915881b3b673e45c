/** What a reward can import from 'braid', for an editor's completion: read from the types that editors get. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostPaths } from '../workspace/paths.ts';

export interface TextFunction {
  readonly name: string;
  /** `(text: string): string[]` */
  readonly signature: string;
  readonly about: string;
}

/** The functions of braid.d.ts, in its order. */
export function textFunctions({ resources }: Pick<HostPaths, 'resources'>): TextFunction[] {
  const types = readFileSync(join(resources, 'tasks', 'braid.d.ts'), 'utf8');
  const pattern =
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n(?:\s*\/\/[^\n]*\n)?\s*export function (\w+)(\([\s\S]*?\n?\s*\): [\s\S]*?);\n/g;
  return Array.from(types.matchAll(pattern), ([, about = '', name = '', signature = '']) => ({
    name,
    about: about.replaceAll(/\s*\n\s*\* ?/g, ' ').trim(),
    signature: signature.replaceAll(/\s+/g, ' ').replace('( ', '(').replace(', )', ')'),
  }));
}
