/**
 * A field for a path of the machine that runs Braid, with a button that browses there: the system's dialog on the
 * desktop, Braid's own in a browser.
 */
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, client } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import classes from './FolderBrowser.module.css';
import { FolderBrowser } from './FolderBrowser.tsx';
import type { Wanted } from './wanted.ts';

export interface HostPathOptions {
  readonly wanted: Wanted;
  readonly label: string;
  readonly description?: ReactNode;
  readonly placeholder: string;
  /** Whether it takes the focus in a dialog. */
  readonly isFirst?: boolean;
  /** Called when a file or folder was chosen. */
  readonly onChoose?: (path: string) => void;
  /** Called when another path is entered or chosen. */
  readonly onChange?: () => void;
}

export interface HostPath {
  readonly value: string;
  readonly setValue: (path: string) => void;
  /** Where the path leads, once its folder is open to Braid: asks for it if need be, and throws if it stays closed. */
  readonly locate: () => Promise<{ readonly path: string; readonly isFolder: boolean }>;
  readonly field: ReactNode;
}

interface Browsing {
  readonly start: string;
  /** What waits for an answer about its folder. */
  readonly settle: (allowed: boolean) => void;
}

const unasked = (): void => undefined;

export function useHostPath(options: HostPathOptions): HostPath {
  const { wanted, label, description, placeholder, isFirst = false, onChoose, onChange } = options;
  const { data: info } = useQuery(api.app.info.queryOptions());
  const [value, setEntered] = useState('');
  const setValue = (path: string): void => {
    setEntered(path);
    onChange?.();
  };
  const [browsing, setBrowsing] = useState<Browsing | null>(null);
  const close = (): void => {
    browsing?.settle(false);
    setBrowsing(null);
  };
  const choose = (path: string): void => {
    setValue(path);
    close();
    onChoose?.(path);
  };
  const locate: HostPath['locate'] = async () => {
    const place = await client.folders.find({ path: value.trim() });
    if (place.kind === 'open') return place;
    const allowed = info?.dialogs
      ? (await client.folders.allow({ question: place.question })).allowed
      : await new Promise<boolean>((settle) => setBrowsing({ start: value.trim(), settle }));
    if (!allowed) throw new Error(`${place.folder} was not opened to Braid.`);
    return locate();
  };
  const browse = async (): Promise<void> => {
    if (info?.dialogs !== true) return setBrowsing({ start: await startOf(value), settle: unasked });
    const title = `Choose ${label.toLowerCase()}`;
    const chosen =
      wanted.what === 'file' ? (await client.app.chooseFiles({ title }))[0] : await client.app.chooseFolder({ title });
    if (chosen !== undefined && chosen !== null) choose(chosen);
  };
  const field = (
    <>
      <div className={classes.field}>
        <TextInput
          label={label}
          description={description}
          placeholder={placeholder}
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
          data-autofocus={isFirst || undefined}
          spellCheck={false}
        />
        <Button
          variant="default"
          aria-expanded={browsing !== null}
          onClick={() => (browsing ? close() : void browse())}
        >
          Browse …
        </Button>
      </div>
      {browsing !== null && (
        <FolderBrowser
          key={browsing.start}
          wanted={wanted}
          start={browsing.start}
          onAllowed={() => {
            if (browsing.settle === unasked) return;
            browsing.settle(true);
            setBrowsing(null);
          }}
          onChoose={choose}
          onClose={close}
        />
      )}
    </>
  );
  return { value, setValue, locate, field };
}

/** What was entered, if it exists; otherwise the workspace. */
async function startOf(value: string): Promise<string> {
  const { workspace } = await client.folders.places();
  if (value.trim() === '') return workspace;
  try {
    await client.folders.find({ path: value.trim() });
    return value.trim();
  } catch (error) {
    // The browser has nothing to show of it; the form says what is wrong when it is sent.
    if (failureOf(error).code === null) throw error;
    return workspace;
  }
}
