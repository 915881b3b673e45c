/** Tags of texts. Pure. */

interface Tagged {
  readonly tags: readonly string[];
}

/** Every tag in use, by name. */
export function tagsOf(texts: readonly Tagged[]): string[] {
  return [...new Set(texts.flatMap(({ tags }) => tags))].sort((a, b) => a.localeCompare(b));
}

/** The tags that all of these texts have. */
export function commonTags(texts: readonly Tagged[]): readonly string[] {
  return (texts[0]?.tags ?? []).filter((tag) => texts.every(({ tags }) => tags.includes(tag)));
}

/** What changes from some tags to others. */
export function tagChange(before: readonly string[], after: readonly string[]): { add: string[]; remove: string[] } {
  return { add: after.filter((tag) => !before.includes(tag)), remove: before.filter((tag) => !after.includes(tag)) };
}
