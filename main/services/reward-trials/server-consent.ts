/** The user's agreement to an OpenEnv server that has no task yet. */
import { ENVIRONMENT } from '../../tasks/openenv/spec.ts';
import { openConsentFile, reachesOf } from '../tasks/consent.ts';
import { placeIn, type ServerChoice, serverSource } from '../tasks/server-choice.ts';
import { type AskUser, allowComponent, asWord, type DraftTrust } from './draft-consent.ts';

/** Asks the user to agree to the server, unless they have; returns whether they do. `ask`: null without a window. */
export async function allowServer(trust: DraftTrust, choice: ServerChoice, ask: AskUser | null): Promise<boolean> {
  const source = serverSource(choice);
  const { consents = openConsentFile() } = trust;
  if (reachesOf(source, consents).every(({ isAllowed }) => isAllowed)) return true;
  const start = choice.start.trim() === '' ? '' : ` --start ${asWord(choice.start.trim())}`;
  const command = `Run: braid task allow ${asWord(placeIn(choice).openenv)}${start}`;
  return allowComponent(trust, source, ENVIRONMENT, ask, command);
}
