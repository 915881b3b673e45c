/**
 * What the user has agreed to: commands that run and addresses that completions are sent to, each by the hash of exactly
 * that. It is in the user's own configuration, so that no workspace can bring its own agreement.
 */
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { type Reach, reachOf } from '../../tasks/external/access.ts';
import { outsideParts, parseDefinition, TASK_FILE } from '../../tasks/folder/definition.ts';
import type { TaskSource } from '../../tasks/index.ts';
import { visible } from '../../text/visible.ts';
import { secretsFile } from '../workspace/secrets.ts';
import { openUserFile, type UserFile } from '../workspace/user-file.ts';

const consentSchema = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** What was shown when it was agreed to, for whoever reads the file. */
  text: z.string(),
  /** Whether plain http to another machine was agreed to as well. */
  plain: z.boolean(),
});
type Consent = Readonly<z.infer<typeof consentSchema>>;

/** Where agreements are kept. */
export type ConsentFile = UserFile<readonly Consent[]>;

/** Opens the file next to the secrets; it is made when something is agreed to. */
export function openConsentFile(file: string = join(dirname(secretsFile()), 'allowed-rewards.json')): ConsentFile {
  return openUserFile<readonly Consent[]>(file, {
    schema: z.array(consentSchema),
    empty: [],
    what: 'the rewards that you allowed',
    code: 'CONSENT_UNREADABLE',
    remedy: 'Delete the file and allow the rewards again. Nothing else is in it.',
  });
}

/** A component that reaches outside, and whether the user has agreed to it. */
export interface AskedReach extends Reach {
  readonly isAllowed: boolean;
}

/** Everything that a task reaches outside Braid. */
export function reachesOf(source: TaskSource, consents: ConsentFile): AskedReach[] {
  if (typeof source === 'string') return [];
  const outside = outsideParts(parseDefinition(join(source.folder, TASK_FILE), source.definition));
  const reaches = Object.entries(outside).flatMap(([name, spec]) => reachOf(name, spec, source.files ?? {}) ?? []);
  if (reaches.length === 0) return [];
  const known = consents.read();
  // What is agreed to must not hide a part of itself.
  return reaches.map((reach) => ({ ...reach, text: visible(reach.text), isAllowed: isAllowed(reach, known) }));
}

function isAllowed({ hash, isPlain }: Reach, known: readonly Consent[]): boolean {
  return known.some((consent) => consent.hash === hash && (consent.plain || !isPlain));
}

/** Agrees to some of what a task reaches. A hash that it doesn't reach is refused: it is of another version. */
export function allowReaches(
  source: TaskSource,
  hashes: readonly string[],
  consents: ConsentFile,
  { plain = false }: { readonly plain?: boolean } = {},
): AskedReach[] {
  const reaches = reachesOf(source, consents);
  const strange = hashes.find((hash) => !reaches.some((reach) => reach.hash === hash));
  if (strange !== undefined)
    throw inputError(
      'REWARD_HASH_UNKNOWN',
      `Nothing that the task reaches outside Braid has the hash ${strange}`,
      `${reaches.length === 0 ? 'It reaches nothing.' : `It ${reaches.map(described).join('; it ')}.`} Its text may have changed.`,
    );
  const agreed = reaches.filter(({ hash }) => hashes.includes(hash));
  const insecure = agreed.find(({ isPlain }) => isPlain && !plain);
  if (insecure !== undefined)
    throw inputError(
      'REWARD_NOT_SECURE',
      `"${insecure.component}" sends completions to ${insecure.host} unencrypted: anyone on the way could read them`,
      'Use https or an SSH tunnel to this machine, or agree to plain http as well.',
    );
  const added = agreed.map(({ hash, text, isPlain }) => ({ hash, text, plain: isPlain }));
  consents.change((before) => [...before.filter(({ hash }) => !hashes.includes(hash)), ...added]);
  return reachesOf(source, consents);
}

/** Takes back what was agreed to for a task. */
export function forgetReaches(source: TaskSource, consents: ConsentFile): void {
  const hashes = reachesOf(source, consents).map(({ hash }) => hash);
  consents.change((before) => before.filter(({ hash }) => !hashes.includes(hash)));
}

/** Refuses a task that reaches what nobody has agreed to; says what, and how to agree. */
export function requireAllowed(source: TaskSource, consents: ConsentFile): readonly Reach[] {
  const reaches = reachesOf(source, consents);
  const missing = reaches.filter((reach) => !reach.isAllowed);
  if (missing.length === 0) return reaches;
  throw inputError(
    'REWARD_NOT_ALLOWED',
    `The task reaches outside Braid, and you haven't agreed to that: it ${missing.map(described).join('; it ')}. Nothing was run or sent`,
    "If you trust it, allow it on the task's screen.",
  );
}

function described({ component, text, hash, isPlain }: Reach): string {
  return `${text} (component "${component}", ${hash}${isPlain ? ', plain http' : ''})`;
}
