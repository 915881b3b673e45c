/** What a draft's reward reaches outside Braid: shown on the task's screen, and agreed to in a window of the system. */
import { inputError } from '../../errors.ts';
import { type CommandFiles, filesOf, placeOf } from '../../tasks/external/access.ts';
import { outsideParts, parseDefinition, TASK_FILE } from '../../tasks/folder/definition.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { counted } from '../../text/format.ts';
import { visible } from '../../text/visible.ts';
import { quoted } from '../servers/shell.ts';
import { type AskedReach, allowReaches, type ConsentFile, openConsentFile, reachesOf } from '../tasks/consent.ts';
import { originOf, rewardKey } from '../tasks/reward-keys.ts';
import { openSecrets, type Secrets } from '../workspace/secrets.ts';

/** A component that isn't reward.ts's. */
export interface OutsideComponent {
  readonly name: string;
  readonly kind: string;
  /** What it reaches and whether the user has agreed to it; null: nothing that needs an agreement. */
  readonly reach: AskedReach | null;
  /** The texts that its command runs with. */
  readonly files: CommandFiles;
  /** The address that a key can be kept for; null: it needs none. */
  readonly keyFor: string | null;
  readonly hasKey: boolean;
}

/** What the user has agreed to, and their keys; by default those of this machine. */
export interface DraftTrust {
  readonly consents?: ConsentFile;
  readonly secrets?: Pick<Secrets, 'get'>;
}

/** Every component of a draft that isn't reward.ts's. */
export function outsideOf(
  { consents = openConsentFile(), secrets = openSecrets() }: DraftTrust,
  source: FolderSource,
): OutsideComponent[] {
  const outside = outsideParts(parseDefinition(TASK_FILE, source.definition));
  const reaches = reachesOf(source, consents);
  return Object.entries(outside).map(([name, spec]) => {
    const address = placeOf(spec);
    return {
      name,
      kind: spec.kind,
      reach: reaches.find(({ component }) => component === name) ?? null,
      files:
        'command' in spec && spec.command !== null
          ? filesOf({ ...spec, command: spec.command }, source.files ?? {})
          : {},
      keyFor: address === null ? null : originOf(address),
      hasKey: address !== null && rewardKey(secrets, address) !== null,
    };
  });
}

/** A path or a text as a shell takes it; inside double quotes a POSIX shell would run `$(…)` of a folder's name. */
export function asWord(text: string): string {
  if (/^[\w./:\\-]+$/.test(text)) return text;
  return process.platform === 'win32' ? quotedOnWindows(text) : quoted(text);
}

/** Backslashes count as such but before a quotation mark. */
function quotedOnWindows(text: string): string {
  return `"${text.replace(/(\\*)("|$)/g, (_, slashes: string, mark: string) => slashes.repeat(2) + (mark && '\\"'))}"`;
}

/** Asks the user; a page can't answer. */
export type AskUser = (question: {
  readonly message: string;
  readonly detail: string;
  readonly action: string;
}) => Promise<boolean>;

/** Of the texts in the question; the screen shows all of them. */
const SHOWN = 2000;

/**
 * Asks the user to agree to what a component of the draft reaches. `ask`: null where there is no window to ask in; `command`:
 * what agrees there, with the hash.
 */
export async function allowComponent(
  trust: DraftTrust,
  source: FolderSource,
  component: string,
  ask: AskUser | null,
  command = `Save the task, then run: braid task allow ${asWord(source.folder)}`,
): Promise<boolean> {
  const { consents = openConsentFile() } = trust;
  const found = outsideOf(trust, source).find(({ name }) => name === component);
  const reach = found?.reach ?? null;
  if (found === undefined || reach === null)
    throw inputError('REWARD_HASH_UNKNOWN', `The component "${component}" needs no agreement`, 'Check the task again.');
  const plain = reach.isPlain ? ' --allow-plain-http' : '';
  if (ask === null)
    throw inputError(
      'REWARD_NOT_ALLOWED',
      "A page in a browser can't agree to this: only you can, at this machine",
      `${command} ${reach.hash}${plain}`,
    );
  const texts = Object.entries(found.files).map(([name, text]) => `${name}:\n${beginning(text)}`);
  const warning = reach.isPlain ? ['It is plain http: anyone on the way could read what is sent.'] : [];
  const agreed = await ask({
    message: `Allow the reward "${component}" of ${source.name}?`,
    detail: visible([`It ${reach.text}.`, ...warning, ...texts].join('\n\n')),
    action: 'Allow',
  });
  if (agreed) allowReaches(source, [reach.hash], consents, { plain: true });
  return agreed;
}

function beginning(text: string): string {
  const hidden = text.length - SHOWN;
  return hidden <= 0
    ? text
    : `${text.slice(0, SHOWN)}\n… and ${counted(hidden, 'character')} more, on the task's screen`;
}
