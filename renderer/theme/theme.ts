/** The Mantine theme: compact, hairlines, one radius, shadows on overlays only. */
import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** Strand A from tint to shade: the colour of actions. */
const teal: MantineColorsTuple = [
  '#e6f5f3',
  '#cfeae6',
  '#9fd6cf',
  '#6cc1b6',
  '#44afa2',
  '#2aa396',
  '#0f766e',
  '#0d6860',
  '#095a53',
  '#044b45',
];

/** For irreversible actions; shade 6 has enough contrast for white text. */
const red: MantineColorsTuple = [
  '#fbeceb',
  '#f9e1df',
  '#efbdb9',
  '#e29791',
  '#d3726b',
  '#c34e48',
  '#ad2b2b',
  '#952323',
  '#7d1c1c',
  '#651515',
];

/** Names of runs in titles can be long, and without a space. */
const wrappingTitle = { lineHeight: 1.4, minWidth: 0, overflowWrap: 'anywhere' } as const;

/** The list of options scrolls itself: in it, an area of its own would have to take the focus. */
const scrollingOptions = { options: { maxHeight: 220, overflowY: 'auto' } } as const;

export const theme = createTheme({
  colors: { teal, red },
  primaryColor: 'teal',
  primaryShade: { light: 6, dark: 6 },
  autoContrast: true,
  defaultRadius: 4,
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, monospace",
  fontSizes: { xs: '11px', sm: '12px', md: '13px', lg: '15px', xl: '18px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '18px' }, h2: { fontSize: '14px' }, h3: { fontSize: '13px' } },
  },
  focusRing: 'auto',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    InputWrapper: { styles: { description: { color: 'var(--soft)', fontSize: '11px' } } },
    ActionIcon: { defaultProps: { variant: 'subtle', size: 'md', color: 'gray' } },
    TextInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    // Of thousands of options a menu shows the first; typing finds the others.
    Select: { defaultProps: { size: 'xs', limit: 100, withScrollArea: false }, styles: scrollingOptions },
    Autocomplete: { defaultProps: { withScrollArea: false }, styles: scrollingOptions },
    // Mantine would keep the options of every closed list in the DOM: two hundred runs for each run select.
    Combobox: { defaultProps: { keepMounted: false } },
    MultiSelect: { defaultProps: { size: 'xs', limit: 100, withScrollArea: false }, styles: scrollingOptions },
    Checkbox: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
    Table: { defaultProps: { verticalSpacing: 4, horizontalSpacing: 8, fz: 'md' } },
    // The focus goes to the first item: a placeholder has no name, and a menu may only hold items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: {
      defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: wrappingTitle },
    },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } }, styles: { title: wrappingTitle } },
  },
});
