/** The chain and the heads of a folder, read back. */
import {
  type ChainPlace,
  followChain,
  NOWHERE,
  type Place,
} from '../../../src/addons/audit/chain-reading.ts';
import { eachHead, type RecordedHead } from '../../../src/addons/audit/heads-file.ts';
import { HistoryChain } from '../../../src/addons/audit/history-chain.ts';
import type { FileSystem } from '../../../src/persistence/disk/file-system.ts';
import { JOURNAL } from '../../support/journal-fixture.ts';

/** The place behind an event, and the link of its frame. */
export async function chainAt(disk: FileSystem, id: number, begin = NOWHERE): Promise<ChainPlace> {
  const chain = new HistoryChain(begin.link);
  let place: Place = begin;
  while (place.lastId < id)
    place = await followChain({ fs: disk, folder: JOURNAL }, { chain, from: place, upToId: id });
  return { ...place, link: chain.link };
}

/** The signed heads of a data folder, oldest first. */
export async function headsOf(disk: FileSystem, folder: string): Promise<readonly RecordedHead[]> {
  const heads: RecordedHead[] = [];
  for await (const head of eachHead(disk, folder)) heads.push(head);
  return heads;
}
