/** Keyboard shortcuts: each screen registers its keys; `?` lists them all. */
import { Kbd, Modal, Table } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { navigate } from './hash-location.ts';
import { IsPrerendering } from './is-prerendering.ts';
import { screens } from './screens.ts';

export interface ScreenKey {
  /** As in KeyboardEvent.key: `j`, `ArrowLeft`, ` `. */
  readonly key: string;
  /** What it does: "Next step". */
  readonly label: string;
  readonly run: () => void;
}

interface Keys {
  add(keys: readonly ScreenKey[]): () => void;
  /** Opens the list of shortcuts. */
  help(): void;
  /** The current screen's keys. */
  current(): readonly ScreenKey[];
}

const KeysContext = createContext<Keys>({ add: () => () => undefined, help: () => undefined, current: () => [] });

/** Registers the current screen's keys. They are ignored while typing, in an open list and in a dialog. */
export function useKeys(keys: readonly ScreenKey[]): void {
  const { add } = useContext(KeysContext);
  const isPrerendering = useContext(IsPrerendering);
  useEffect(() => (isPrerendering ? undefined : add(keys)), [add, keys, isPrerendering]);
}

/** Opens the list of shortcuts from elsewhere, such as a menu. */
export function useKeysHelp(): () => void {
  return useContext(KeysContext).help;
}

type Groups = readonly (readonly ScreenKey[])[];

/** Returns a getter for the current screen's keys. */
export function useCurrentKeys(): () => readonly ScreenKey[] {
  return useContext(KeysContext).current;
}

export function KeysProvider({ children }: { readonly children: ReactNode }) {
  const active = useRef<Groups>([]);
  // Only what the dialog shows is state, so registering keys causes no render.
  const [help, setHelp] = useState<{ readonly open: boolean; readonly groups: Groups }>({ open: false, groups: [] });
  const value = useMemo<Keys>(() => {
    const set = (groups: Groups): void => {
      active.current = groups;
      setHelp((before) => (before.open ? { open: true, groups } : before));
    };
    return {
      add: (keys) => {
        set([...active.current, keys]);
        return () => set(active.current.filter((group) => group !== keys));
      },
      help: () => setHelp({ open: true, groups: active.current }),
      current: () => active.current.flat(),
    };
  }, []);
  useEffect(() => {
    let afterG = false;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.key, event.target)) return;
      const { key } = event;
      const screen = afterG ? screens.find((known) => known.key === key) : undefined;
      const bound = afterG ? undefined : active.current.flat().findLast((known) => known.key === key);
      afterG = key === 'g' && !afterG;
      if (screen !== undefined) navigate(screen.path);
      else if (key === '?') value.help();
      else if (bound !== undefined) {
        event.preventDefault();
        bound.run();
      }
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [value]);
  return (
    <KeysContext.Provider value={value}>
      {children}
      <Modal
        opened={help.open}
        onClose={() => setHelp(({ groups }) => ({ open: false, groups }))}
        title="Keyboard shortcuts"
      >
        <KeyTable title="This screen" rows={help.groups.flat().map(({ key, label }) => [named(key), label])} />
        <KeyTable
          title="Everywhere"
          rows={[
            ['Ctrl K', 'Open the command palette'],
            ['?', 'Show these shortcuts'],
            ...screens.map(({ key, label }) => [`g ${key}`, label] as const),
          ]}
        />
      </Modal>
    </KeysContext.Provider>
  );
}

function KeyTable({ title, rows }: { readonly title: string; readonly rows: readonly (readonly [string, string])[] }) {
  if (rows.length === 0) return null;
  return (
    <Table mb="md">
      <Table.Caption style={{ captionSide: 'top', textAlign: 'left' }}>{title}</Table.Caption>
      <Table.Tbody>
        {rows.map(([keys, label]) => (
          <Table.Tr key={keys + label}>
            <Table.Td w={90}>
              {keys.split(' ').map((key) => (
                <Kbd key={key} mr={4}>
                  {key}
                </Kbd>
              ))}
            </Table.Td>
            <Table.Td>{label}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function named(key: string): string {
  return key === ' ' ? 'Space' : key.replace('Arrow', '').toUpperCase();
}

/** Inputs that accept no text: letters typed there still go to the screen. */
const TEXTLESS = ['checkbox', 'radio', 'range', 'button', 'submit', 'reset', 'file', 'color'];

/**
 * Whether the focused element handles a key itself: text fields take letters, dialogs everything, other fields only
 * special keys.
 */
function isTaken(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[role="dialog"], [role="listbox"], [role="menu"]') !== null) return true;
  const field = target.closest('input, textarea, select');
  if (field === null) return target.isContentEditable;
  const takesText =
    field instanceof HTMLInputElement
      ? !field.readOnly && !TEXTLESS.includes(field.type)
      : field instanceof HTMLTextAreaElement;
  // Arrows move a slider or a select; Space toggles a checkbox.
  return takesText || key.length > 1 || key === ' ' || target.getAttribute('aria-expanded') === 'true';
}
