/** How a post is put before the model. Version 1; a record that brings a prompt of its own keeps it. */

const TEMPLATE = 'Write a short reply to this post.\nPost: {post}\nReply:';

/** The prompt of a post, put in once and verbatim. */
export function replyPrompt(post: string): string {
  return TEMPLATE.replace('{post}', () => post);
}
