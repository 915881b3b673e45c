/** CodeMirror for one of a task's texts: faults in place, completion, our own colours in both themes. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { DraftFault } from '../../main/api/contract/index.ts';
import { type CompletionFacts, completionsFor } from './completions.ts';
import { editorTheme, highlightStyle } from './editor-theme.ts';

export interface EditorProps {
  readonly language: 'typescript' | 'yaml';
  /** Accessible name. */
  readonly label: string;
  readonly value: string;
  readonly readOnly: boolean;
  readonly faults: readonly DraftFault[];
  readonly facts: CompletionFacts;
  readonly onChange: (value: string) => void;
}

export function Editor({ language, label, value, readOnly, faults, facts, onChange }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ onChange, facts, value });
  latest.current = { onChange, facts, value };
  useEffect(() => {
    if (host.current === null) return;
    const editable = new Compartment();
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          ...[lineNumbers(), lintGutter(), history(), bracketMatching(), closeBrackets(), indentOnInput()],
          ...[highlightActiveLine(), EditorView.lineWrapping, editorTheme, syntaxHighlighting(highlightStyle)],
          language === 'yaml' ? yaml() : javascript({ typescript: true }),
          ...(language === 'typescript'
            ? [autocompletion({ override: [(context) => completionsFor(context, latest.current.facts)] })]
            : []),
          // Tab moves the focus, as everywhere: who works by keyboard can leave the editor.
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          editable.of([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    // A text that can't be edited still has to be reachable, to scroll it.
    if (readOnly) editor.contentDOM.tabIndex = 0;
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [language, label, readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another language is another editor, without marks
  useEffect(() => {
    const editor = view.current;
    if (editor !== null)
      editor.dispatch(
        setDiagnostics(
          editor.state,
          faults.map((fault) => mark(editor, fault)),
        ),
      );
  }, [faults, language, readOnly]);
  return <div ref={host} style={{ height: '100%', minHeight: 0 }} />;
}

/** From a fault's column to the end of the word; without a column its line. */
function mark({ state }: EditorView, { line, column, message }: DraftFault): Diagnostic {
  const at = state.doc.line(Math.max(1, Math.min(line ?? 1, state.doc.lines)));
  if (column === null) return { from: at.from, to: at.to, severity: 'error', message };
  const from = Math.min(at.to, at.from + column - 1);
  const word = /^[\w$]+/.exec(state.sliceDoc(from, at.to))?.[0].length ?? 1;
  return { from, to: Math.min(at.to, from + word), severity: 'error', message };
}
