/** FNV-1a of 32 bits over UTF-16 units, as a number from 0 up. `seed`: other seeds give other hashes of the same text. */
export function textHash(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
