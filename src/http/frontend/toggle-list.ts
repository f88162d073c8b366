/**
 * The body that a browser SDK gets. A flag can come to few outcomes, each of which is an object that stays: its JSON is made
 * once, with a digest, so that the tag of a list costs the hashing of a few bytes for each flag.
 */
import { createHash } from 'node:crypto';
import type { Toggle } from '../../domain/evaluation/outcome.ts';
import { type TaggedReply, taggedReply } from '../dispatch/json-reply.ts';

interface Block {
  readonly json: string;
  /** 132 bits, in Base64. */
  readonly digest: string;
}

const blocks = new WeakMap<Toggle, Block>();

function blockOf(toggle: Toggle): Block {
  let block = blocks.get(toggle);
  if (block === undefined) {
    const json = JSON.stringify(toggle);
    block = { json, digest: createHash('sha256').update(json).digest('base64url').slice(0, 22) };
    blocks.set(toggle, block);
  }
  return block;
}

/** `toggles` in the order in which they are sent. */
export function toggleList(toggles: readonly Toggle[]): TaggedReply {
  let body = '';
  let digests = '';
  for (const toggle of toggles) {
    const { json, digest } = blockOf(toggle);
    body += body === '' ? json : `,${json}`;
    digests += digest;
  }
  const tag = createHash('sha256').update(digests).digest('base64url').slice(0, 22);
  return taggedReply(`"${tag}"`, `{"toggles":[${body}]}`, NO_CACHE);
}

/** A browser must ask each time; it gets 304 while nothing has changed. */
const NO_CACHE = ['cache-control', 'no-cache'];
