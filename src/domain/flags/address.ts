/** IP addresses and ranges in CIDR notation, of both families, by the library ip-address. */
import { Address4, Address6 } from 'ip-address';

export interface AddressRange {
  readonly bits: 32 | 128;
  readonly address: bigint;
  /** How many leading bits belong to the range; all of them for a single address. */
  readonly prefixLength: number;
}

/** No address or range is longer: anything beyond need not be parsed. IPv6 with an embedded IPv4 part and a prefix. */
const TEXT_LENGTH_MAX = 64;

/** Null when `text` is neither an address nor a range. */
export function parseAddress(text: string): AddressRange | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  try {
    const parsed = text.includes(':') ? new Address6(text) : new Address4(text);
    const bits = parsed instanceof Address6 ? 128 : 32;
    return { bits, address: parsed.bigInt(), prefixLength: parsed.subnetMask };
  } catch {
    return null; // The library's way to say that the text is no address.
  }
}

/** Whether `inner` is the same address as, or lies wholly within, `outer`. Families never match each other. */
export function isWithin(inner: AddressRange, outer: AddressRange): boolean {
  if (inner.bits !== outer.bits) return false;
  if (inner.address === outer.address) return true;
  if (inner.prefixLength < outer.prefixLength) return false;
  const ignored = BigInt(outer.bits - outer.prefixLength);
  return inner.address >> ignored === outer.address >> ignored;
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4_PATTERN = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

/** The shortest spelling of one address; an IPv4 address inside an IPv6 one becomes itself. Null when it is none. */
export function canonicalAddress(text: string): string | null {
  if (IPV4_PATTERN.test(text)) return text;
  const parsed = parseAddress(text);
  if (parsed === null || parsed.prefixLength !== parsed.bits) return null;
  if (parsed.bits === 32) return Address4.fromBigInt(parsed.address).correctForm();
  const address = Address6.fromBigInt(parsed.address);
  return address.isMapped4() ? address.to4().correctForm() : address.correctForm();
}

/** The first 96 bits of 64:ff9b::/96 (RFC 6052), behind which a translator puts the IPv4 address of its client. */
const TRANSLATED_PREFIX = 0x64ff9bn << 64n;

/** The bits of an IPv6 address that name a network; whoever has one address has all of its network. */
const NETWORK_BITS = 64n;

/**
 * Returns the addresses that one caller holds, for limits by address: an IPv4 address, or the network of an IPv6 one. Other texts
 * stay as they are.
 */
export function networkOf(text: string): string {
  const address = canonicalAddress(text) ?? text;
  const parsed = address.includes(':') ? parseAddress(address) : null;
  if (parsed === null) return address;
  if (parsed.address >> 32n === TRANSLATED_PREFIX)
    return Address4.fromBigInt(parsed.address & 0xffff_ffffn).correctForm();
  return `${Address6.fromBigInt((parsed.address >> NETWORK_BITS) << NETWORK_BITS).correctForm()}/64`;
}
