/** `~` as a shell reads it. */
import { homedir } from 'node:os';

/** The path with a leading `~` or `~/` replaced by the home folder; any other stays as it is. */
export function fromHome(path: string): string {
  return /^~(?=$|[\\/])/.test(path) ? `${homedir()}${path.slice(1)}` : path;
}
