/** A task in the editor: its saved texts with the user's changes, which are kept until they are saved or discarded. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { TaskFiles } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { useUnloadWarning } from '../components/use-unload-warning.ts';
import { keepDraft, readDraft, type StoredDraft } from './draft-store.ts';

export interface Draft {
  readonly name: string;
  readonly definition: string;
  readonly reward: string;
}

export interface DraftEditing {
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly saveError: Error | null;
  /** Whether the files were changed by another program; saving again overwrites that. */
  readonly isOverwriting: boolean;
  readonly edit: (change: Partial<Pick<Draft, 'definition' | 'reward'>>) => void;
  readonly save: () => Promise<unknown>;
  readonly discard: () => void;
}

/** The texts that a save stores; `over` is the hash of those that it may replace, null any. */
interface Saved {
  readonly definition: string;
  readonly reward: string;
  readonly over: string | null;
}

export function useDraft(workspace: string, files: TaskFiles): DraftEditing {
  const { name, origin } = files;
  const task = { workspace, name };
  const [own, setOwn] = useState<StoredDraft | null>(() => (origin === 'workspace' ? readDraft(task) : null));
  const queries = useQueryClient();
  const { definition, reward } = own ?? files;
  const isChanged = own !== null && (definition !== files.definition || reward !== files.reward);
  const change = (next: StoredDraft | null): void => {
    keepDraft(task, next);
    setOwn(next);
  };
  const save = useMutation({
    mutationFn: (saved: Saved) => client.tasks.save({ name, ...saved }),
    onSuccess: ({ hash }, { over: _, ...saved }) => {
      queries.setQueryData(api.tasks.get.queryKey({ input: { name } }), { ...files, ...saved, hash });
      // This closure is the newest render's: what was typed during the save stays a draft, over what was saved.
      const isSame = definition === saved.definition && reward === saved.reward;
      change(isSame ? null : { definition, reward, over: hash });
    },
  });
  const isOverwriting = save.error !== null && failureOf(save.error).code === 'TASK_CHANGED_ELSEWHERE';
  useUnloadWarning(() => isChanged);
  return {
    draft: { name, definition, reward },
    isChanged,
    isSaving: save.isPending,
    saveError: save.error,
    isOverwriting,
    edit: (part) => {
      const next = { definition, reward, over: own?.over ?? files.hash, ...part };
      const isSame = next.definition === files.definition && next.reward === files.reward;
      change(isSame ? null : next);
    },
    save: () => save.mutateAsync({ definition, reward, over: isOverwriting ? null : (own?.over ?? files.hash) }),
    discard: () => {
      save.reset();
      change(null);
      void queries.invalidateQueries({ queryKey: api.tasks.get.key({ input: { name } }) });
    },
  };
}
