/** The tensors that a quantised matrix consists of. */
import { inputError } from '../../errors.ts';
import type { SafetensorsFile } from '../safetensors.ts';
import type { Quantisation } from './settings.ts';

/** Where a tensor is. */
export interface Place {
  readonly file: SafetensorsFile;
  readonly path: string;
}

export interface Parts {
  readonly settings: Quantisation;
  /** The module's name in the file, without ".weight". */
  readonly module: string;
  readonly rows: number;
  readonly columns: number;
  /** Of the file that has the weight, for errors. */
  readonly path: string;
  has(part: string): boolean;
  shape(part: string): readonly number[];
  /** Whether its numbers are stored so. */
  isA(part: string, type: string): boolean;
  /** Bytes of a part of one of these types and shapes, which is checked at once and read when called. */
  bytes(part: string, types: readonly string[], ...shapes: readonly (readonly number[])[]): () => Buffer<ArrayBuffer>;
  /** The same of finite numbers. */
  floats(part: string, ...shapes: readonly (readonly number[])[]): () => Float32Array<ArrayBuffer>;
  type(part: string): ReturnType<SafetensorsFile['typeOf']>;
}

export function partsOf(
  placeOf: (name: string) => Place | null,
  {
    module,
    shape,
    settings,
  }: { readonly module: string; readonly shape: readonly number[]; readonly settings: Quantisation },
): Parts {
  const place = (part: string): Place & { readonly name: string } => {
    const name = `${module}.${part}`;
    const found = placeOf(name);
    if (found?.file.entries.has(name) === true) return { ...found, name };
    throw inputError(
      'TENSOR_MISSING',
      `${found?.path ?? module}: expected a tensor "${name}" beside the other parts of a weight that is quantised by ${settings.name}`,
      'Copy or download the whole model folder again.',
    );
  };
  const entryOf = (part: string, shapes: readonly (readonly number[])[]) => {
    const { file, path, name } = place(part);
    const entry = file.entries.get(name);
    if (entry !== undefined && (shapes.length === 0 || shapes.some((one) => one.join() === entry.shape.join())))
      return { file, path, name, entry };
    const wanted = [...new Set(shapes.map((one) => `[${one.join(', ')}]`))].join(' or ');
    throw inputError(
      'BAD_SHAPE',
      `${path}: expected "${name}" of shape ${wanted} by config.json and ${settings.name}, got [${entry?.shape.join(', ')}]`,
      'Copy or download the whole model folder again.',
    );
  };
  const [rows = 0, columns = 0] = shape;
  return {
    settings,
    module,
    rows,
    columns,
    path: place(mainPart(placeOf, module)).path,
    has: (part) => placeOf(`${module}.${part}`) !== null,
    shape: (part) => entryOf(part, []).entry.shape,
    isA: (part, type) => entryOf(part, []).entry.dtype === type,
    type: (part) => {
      const { file, name } = place(part);
      return file.typeOf(name);
    },
    bytes: (part, types, ...shapes) => {
      const { file, path, name, entry } = entryOf(part, shapes);
      if (!types.includes(entry.dtype))
        throw inputError(
          'UNSUPPORTED_DTYPE',
          `${path}: expected tensor "${name}" as ${types.join(' or ')} by ${settings.name}, got ${entry.dtype.slice(0, 40)}`,
        );
      return () => file.readBytes(name);
    },
    floats: (part, ...shapes) => {
      const { file, name } = entryOf(part, shapes);
      file.typeOf(name);
      return () => file.read(name);
    },
  };
}

/** The part that has the codes. */
const CODES = ['weight', 'qweight', 'weight_packed'] as const;

function mainPart(placeOf: (name: string) => Place | null, module: string): string {
  return CODES.find((part) => placeOf(`${module}.${part}`) !== null) ?? 'weight';
}

/** The name of the weight that a tensor has the codes of; null: another tensor. */
export function weightOfCodes(name: string): string | null {
  const part = /\.(qweight|weight_packed)$/.exec(name)?.[0];
  return part === undefined ? null : `${name.slice(0, -part.length)}.weight`;
}
