/** The editor in the app's own colours, which change with the theme. */
import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const editorTheme = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', backgroundColor: 'var(--panel)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': {
    fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace",
    fontFeatureSettings: '"calt" 0',
    lineHeight: '1.55',
  },
  '.cm-content': { caretColor: 'var(--ink)', padding: '6px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--strand-a) 6%, transparent)' },
  '&.cm-focused .cm-selectionBackground, ::selection': { backgroundColor: 'var(--strand-a-tint)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-tooltip': {
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
    backgroundColor: 'var(--panel)',
    color: 'var(--ink)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--strand-a)', color: 'var(--paper)' },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.85' },
  '.cm-tooltip.cm-completionInfo': {
    padding: '6px 8px',
    maxWidth: '320px',
    fontFamily: "'Inter Variable', sans-serif",
  },
  '.cm-diagnostic': { borderLeftColor: 'var(--bad)', fontFamily: "'Inter Variable', sans-serif" },
});

export const highlightStyle = HighlightStyle.define([
  { tag: [tags.keyword, tags.moduleKeyword, tags.operatorKeyword], color: 'var(--strand-a)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--strand-b)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--bad)' },
  { tag: [tags.comment], color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: 'var(--good)' },
  { tag: [tags.function(tags.variableName), tags.definition(tags.propertyName)], color: 'var(--focus)' },
  { tag: [tags.propertyName], color: 'var(--ink)' },
  { tag: tags.invalid, color: 'var(--bad)', textDecoration: 'underline' },
]);
