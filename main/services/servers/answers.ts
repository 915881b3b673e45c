/** Whether anything answers at an engine's address. The key isn't sent: a refusal is an answer, too. */
import { engineAddress } from '../../trainer/tinker/address.ts';

const TIMEOUT_MS = 3000;

/** What a gateway says while nothing is behind it counts as none. */
export async function answersAt({ url, allowPlain }: { readonly url: string; readonly allowPlain: boolean }) {
  try {
    const { status } = await fetch(`${engineAddress(url, allowPlain)}/api/v1/healthz`, {
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return status < 500;
  } catch {
    return false;
  }
}
