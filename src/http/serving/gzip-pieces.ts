/**
 * Large bodies of kept pieces as gzip, of which each piece is compressed once: after a change only the pieces with something new are
 * compressed again.
 *
 * RFC 1951 and 1952. A piece is compressed without looking back at others, and ends with an empty stored block, which ends at a
 * whole byte; so the blocks of several pieces can follow each other. All of them are one member, since browsers ignore a second one:
 *
 *   header (10 bytes) · blocks of each piece · the last block, empty (2 bytes) · CRC-32 of the body · its length modulo 2^32
 *
 * The CRC-32 of the body is joined from those of its pieces.
 */
import { crc32 } from 'node:zlib';
import { joinedChecksum, shiftPast } from '../../persistence/codec/joined-checksum.ts';
import { BodyPieces } from '../transport/response-body.ts';
import type { Compressor } from './compressor.ts';

/** ID1, ID2, deflate, no flags, no time, no hint, unknown system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);

/** A final block of fixed codes that holds nothing but its end. */
const LAST_BLOCK = [0x03, 0x00] as const;

/** Smaller pieces, such as the commas between others, are stored. */
const COMPRESSED_BYTES_MIN = 128;

/** Bytes of the header of a stored block: its kind, its length, and the length again with all bits turned. */
const STORED_HEADER_BYTES = 5;

interface Compressed {
  readonly blocks: Uint8Array;
  readonly crc: number;
  /** Moves a checksum past the piece. */
  readonly shift: number;
}

/** Kept as long as the pieces; null for one that could not be compressed, which is tried again. */
const compressedPieces = new WeakMap<Uint8Array, Promise<Compressed | null>>();

/** Null where too much waits for being compressed already. */
export async function gzipPieces(body: BodyPieces, compressor: Compressor): Promise<BodyPieces | null> {
  const pieces: Uint8Array[] = [HEADER];
  let bytes = HEADER.byteLength;
  let crc = 0;
  for (const piece of body) {
    const compressed =
      piece.byteLength < COMPRESSED_BYTES_MIN ? storedPiece(piece) : await compressedPiece(piece, compressor);
    if (compressed === null) return null;
    pieces.push(compressed.blocks);
    bytes += compressed.blocks.byteLength;
    crc = joinedChecksum(crc, compressed.crc, compressed.shift);
  }
  const trailer = trailerOf(crc, body.byteLength);
  pieces.push(trailer);
  return new BodyPieces(pieces, bytes + trailer.byteLength);
}

function trailerOf(crc: number, byteLength: number): Uint8Array {
  const trailer = Buffer.alloc(LAST_BLOCK.length + 8);
  trailer.set(LAST_BLOCK);
  trailer.writeUInt32LE(crc, LAST_BLOCK.length);
  trailer.writeUInt32LE(byteLength % 2 ** 32, LAST_BLOCK.length + 4);
  return trailer;
}

function compressedPiece(piece: Uint8Array, compressor: Compressor): Promise<Compressed | null> {
  const known = compressedPieces.get(piece);
  if (known !== undefined) return known;
  const made = compressor
    .compress({ body: piece, coding: 'part', effort: 'fast', isWanted: () => true })
    .then((blocks) => {
      if (blocks !== null) return { blocks, ...checksumOf(piece) };
      compressedPieces.delete(piece);
      return null;
    });
  compressedPieces.set(piece, made);
  return made;
}

function storedPiece(piece: Uint8Array): Compressed {
  const blocks = Buffer.alloc(STORED_HEADER_BYTES + piece.byteLength);
  blocks.writeUInt16LE(piece.byteLength, 1);
  blocks.writeUInt16LE(0xffff - piece.byteLength, 3);
  blocks.set(piece, STORED_HEADER_BYTES);
  return { blocks, ...checksumOf(piece) };
}

function checksumOf(piece: Uint8Array): Pick<Compressed, 'crc' | 'shift'> {
  return { crc: crc32(piece), shift: shiftPast(piece.byteLength) };
}
