/** The palette's state, apart from its code, which is loaded later. */
import { createSpotlight } from '@mantine/spotlight';

export const [paletteStore, palette] = createSpotlight();
