/**
 * Finds the address that a request came from, by the word of the proxies that the operator trusts
 * (docs/operating.md#behind-a-tls-proxy). Each proxy appends the other end of its connection to X-Forwarded-For. So
 * the list is read from its end, and the first address that is no trusted proxy is the caller's; whatever the caller
 * wrote comes before it. Headers from other senders are ignored.
 */
import { BlockList, isIP } from 'node:net';

export class TrustedProxies {
  readonly #ranges = new BlockList();
  readonly #isEmpty: boolean;

  /** `ranges`: addresses, and ranges in CIDR notation. */
  constructor(ranges: readonly string[]) {
    this.#isEmpty = ranges.length === 0;
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/');
      const family = familyOf(address);
      if (prefix === undefined) this.#ranges.addAddress(address, family);
      else this.#ranges.addSubnet(address, Number(prefix), family);
    }
  }

  /** `peer`: the other end of the connection. `headers`: flat, name and value, names in lowercase. */
  callerOf(peer: string, headers: readonly string[]): string {
    if (this.#isEmpty || !this.#has(peer)) return peer;
    const lines: string[] = [];
    for (let i = 0; i < headers.length; i += 2)
      if (headers[i] === 'x-forwarded-for') lines.push(headers[i + 1]!);
    let caller = peer;
    for (const hop of lines.join(',').split(',').reverse()) {
      const address = withoutPort(hop.trim());
      if (isIP(address) === 0) break;
      caller = address;
      if (!this.#has(caller)) break;
    }
    return caller;
  }

  #has(address: string): boolean {
    return isIP(address) !== 0 && this.#ranges.check(address, familyOf(address));
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const [, inBrackets, beforePort] = /^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(hop) ?? [];
  return inBrackets ?? beforePort ?? hop;
}
