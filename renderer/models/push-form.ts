/** What the form of a push holds, and what it asks for. */
import type { ModelEntry } from '../../main/api/contract/index.ts';
import type { Client } from '../api/client.ts';

export interface PushForm {
  readonly repo: string;
  /** The run's number; empty: none is known. */
  readonly run: string;
  readonly license: string;
  readonly baseModel: string;
  readonly texts: boolean;
  readonly isPublic: boolean;
}

export const EMPTY_PUSH: PushForm = {
  repo: '',
  run: '',
  license: '',
  baseModel: '',
  texts: true,
  isPublic: false,
};

/** Empty fields are left to what the model's folder says. */
export function pushOf(
  { ref }: Pick<ModelEntry, 'ref'>,
  form: PushForm,
): Parameters<Client['models']['previewPush']>[0] {
  return {
    ref,
    repo: form.repo.trim(),
    texts: form.texts,
    runId: form.run === '' ? null : Number(form.run),
    license: form.license.trim() || null,
    baseModel: form.baseModel.trim() || null,
  };
}
