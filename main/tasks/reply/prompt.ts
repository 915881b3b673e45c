/** The prompt for a post. Version 1; a record with its own prompt keeps it. */

const TEMPLATE = 'Write a short reply to this post.\nPost: {post}\nReply:';

/** The prompt of a post, inserted once and verbatim. */
export function replyPrompt(post: string): string {
  return TEMPLATE.replace('{post}', () => post);
}
