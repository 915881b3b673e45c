/** Adds a model that lies on this machine: one that another program has, or a folder or GGUF file by its path. */
import { Button, Checkbox } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { client } from '../api/client.ts';
import { DialogForm, type DialogProps } from '../components/DialogForm.tsx';
import { useHostPath } from '../components/host-folders/use-host-path.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { Found } from './Found.tsx';
import { hubName } from './hub-name.ts';
import classes from './Models.module.css';

export interface AddProps extends DialogProps {
  /** For a model of the Hub, by its name there. */
  readonly onDownload: (repo: string) => void;
}

export function Add({ onClose, onDownload }: AddProps) {
  const [, navigate] = useLocation();
  const host = useHostPath({
    wanted: { what: 'any', endings: ['.gguf'], sign: { file: 'config.json', word: 'model' } },
    label: 'Folder or GGUF file',
    placeholder: '~/models/SmolLM2-135M-Instruct',
    isFirst: true,
    onChange: () => importModel.reset(),
  });
  const path = host.value.trim();
  const [copy, setCopy] = useState(false);
  // A path is quickly entered again.
  const discard = useDiscardQuestion({ isChanged: () => false, close: onClose });
  const isFile = /\.gguf$/i.test(path);
  const repo = hubName(path);
  const added = ({ ref, jobId }: { readonly ref: string; readonly jobId: number | null }): void => {
    const shown = `/models?${new URLSearchParams({ model: ref })}`;
    if (jobId === null) discard.proceed(() => navigate(shown, { replace: true }));
    onClose();
  };
  const importModel = useMutation({
    mutationFn: async () => client.models.import({ path: (await host.locate()).path, copy: copy && !isFile }),
    onSuccess: added,
  });
  return (
    <DialogForm
      onClose={onClose}
      size="xl"
      title="Add from this computer"
      action={isFile ? 'Convert and add' : copy ? 'Copy and add' : 'Add'}
      what="The model could not be added"
      disabled={path === ''}
      discard={discard}
      mutation={importModel}
    >
      <Found onAdded={added} />
      {host.field}
      {repo !== null && (
        <p className={classes.hub}>
          <span>{repo} reads like a model of the Hugging Face Hub.</span>
          <Button variant="default" size="compact-sm" onClick={() => onDownload(repo)}>
            Download it …
          </Button>
        </p>
      )}
      <p className="soft">
        On the machine that runs Braid. A folder has config.json, tokenizer.json and safetensors; a GGUF file is
        converted into one. Where the architecture isn't supported, the refusal lists those that are.
      </p>
      {!isFile && (
        <Checkbox
          label="Copy into the workspace"
          description="Otherwise the folder is used in place and has to stay there"
          checked={copy}
          onChange={(event) => setCopy(event.currentTarget.checked)}
        />
      )}
    </DialogForm>
  );
}
