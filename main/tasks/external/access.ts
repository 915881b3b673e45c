/** What a task's components outside the sandbox were given by the user, and how that is identified. */
import { createHash } from 'node:crypto';
import { isPlain } from '../../io/address.ts';
import { counted } from '../../text/format.ts';
import { type OpenEnvSpec, pagesOf } from '../openenv/spec.ts';
import {
  addressOf,
  type ClassifierSpec,
  checkedAddress,
  type EncoderSpec,
  type ExternalKind,
  type ExternalSpec,
  isInside,
} from './spec.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Anything that a task reaches outside the sandbox. */
export type OutsideSpec = ExternalSpec | OpenEnvSpec | ToolSpec;

/** Texts of a task's folder that a command runs with, by their relative path. */
export type CommandFiles = Readonly<Record<string, string>>;

/** What a component reaches outside the sandbox: the user agrees to exactly this. */
export interface Reach {
  readonly component: string;
  readonly kind: ExternalKind | OpenEnvSpec['kind'] | ToolSpec['kind'];
  /** SHA-256 of what is agreed to. */
  readonly hash: string;
  /** In words, with the whole command or address. */
  readonly text: string;
  /** The host of its address; null: it has none. */
  readonly host: string | null;
  /** Whether what is sent can be read on the way. */
  readonly isPlain: boolean;
}

/** What a component reaches; null: nothing but a model of the workspace. */
export function reachOf(component: string, spec: OutsideSpec, files: CommandFiles): Reach | null {
  if (spec.kind === 'tool') return reachOfTool(component, spec, files);
  if (spec.kind === 'openenv') return reachOfServer(component, spec, files);
  if (spec.kind === 'command') {
    const own = filesOf(spec, files);
    const text = commandText(spec.command, own);
    return { component, kind: spec.kind, hash: hashOf(spec.kind, spec.command, own), text, host: null, isPlain: false };
  }
  if ((spec.kind === 'classifier' || spec.kind === 'encoder') && !isInside(modelOf(spec))) {
    const text = `reads the model in the folder ${modelOf(spec)}`;
    return { component, kind: spec.kind, hash: hashOf('model', modelOf(spec)), text, host: null, isPlain: false };
  }
  const address = addressOf(spec);
  if (address === null || (spec.kind !== 'http' && spec.kind !== 'judge')) return null;
  const url = checkedAddress(address, spec.allow_plain_http);
  const text = `sends prompts, completions and records to ${url.href}${
    spec.kind === 'judge'
      ? `, where ${spec.model} judges them${spec.price_per_million === undefined ? '' : ' for a price'}`
      : ''
  }`;
  const hash = hashOf(spec.kind, url.href, spec.kind === 'judge' ? spec.model : null);
  return { component, kind: spec.kind, hash, text, host: url.host, isPlain: isPlain(url) };
}

/** What a command is, in words. */
function commandText(command: readonly string[], own: CommandFiles): string {
  const lines = Object.entries(own).map(([name, text]) => `${name} (${counted(lineCount(text), 'line')})`);
  return `runs the command ${JSON.stringify(command)}${lines.length === 0 ? '' : ` with ${lines.join(', ')}`}, with your rights`;
}

/** As an editor counts them: what ends a line begins none. */
function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}

/** Of a tool: a command is agreed to like that of a reward. */
function reachOfTool(component: string, { command, http, ...spec }: ToolSpec, files: CommandFiles): Reach | null {
  if (command !== null) {
    const own = filesOf({ command, files: spec.files }, files);
    const text = `${commandText(command, own)}, and gives it the arguments of calls`;
    return { component, kind: spec.kind, hash: hashOf('command', command, own), text, host: null, isPlain: false };
  }
  const url = checkedAddress(http ?? '', spec.allow_plain_http);
  const text = `sends the arguments of calls to ${url.href}`;
  return { component, kind: spec.kind, hash: hashOf(spec.kind, url.href), text, host: url.host, isPlain: isPlain(url) };
}

/** Of an OpenEnv server: where it is, or how it is started. */
function reachOfServer(component: string, { kind, command, ...spec }: OpenEnvSpec, files: CommandFiles): Reach {
  const url = checkedAddress(pagesOf(spec.openenv), spec.allow_plain_http);
  const own = command === null ? null : filesOf({ command, files: spec.files }, files);
  const sent = "what the model writes and fields of the task's records";
  const text =
    command === null || own === null
      ? `plays the environment at ${pagesOf(spec.openenv)}, which is sent ${sent}`
      : `${commandText(command, own)}, and plays the environment that it serves at ${spec.openenv}`;
  const hash = hashOf(kind, spec.openenv, command, own);
  return { component, kind, hash, text, host: command === null ? url.host : null, isPlain: isPlain(url) };
}

/** Where what a task reaches is asked, by which a key is kept; null: nowhere but here. */
export function placeOf(spec: OutsideSpec): string | null {
  if (spec.kind === 'tool') return spec.http;
  if (spec.kind !== 'openenv') return addressOf(spec);
  return spec.command === null ? pagesOf(spec.openenv) : null;
}

/** The files that a command runs with: those it lists, and arguments that are files of the folder. */
export function filesOf(
  { command, files }: { readonly command: readonly string[]; readonly files: readonly string[] },
  all: CommandFiles,
): CommandFiles {
  const named = new Set([...files, ...command.slice(1)]);
  return Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => named.has(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The folder of a component's model. */
export function modelOf(spec: ClassifierSpec | EncoderSpec): string {
  return spec.kind === 'classifier' ? spec.classifier : spec.encoder;
}

function hashOf(...parts: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(['braid reward', 1, ...parts]))
    .digest('hex');
}

/** What a process is given to compute such components. Never stored: it may hold keys. */
export interface ExternalAccess {
  /** The entry of the thread that computes them. */
  readonly worker: string;
  /** The hashes that the user has agreed to. */
  readonly allowed: readonly string[];
  /** Keys by the origin of an address. */
  readonly keys: Readonly<Record<string, string>>;
  /** Where answers of judges are kept. */
  readonly cacheFolder: string;
  /** The folders of models, by component. */
  readonly models: Readonly<Record<string, string>>;
  /** The compiled kernels, for models. */
  readonly kernelsFile: string;
}

/** How addresses elsewhere are reached where a network has a proxy; it may have a password, so that no program gets it. */
export const PROXY_VARIABLES: readonly string[] = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_USE_ENV_PROXY'];
