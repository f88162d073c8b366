/** The numbers below `count` in an order that looks random and is the same in every run. */
const MULTIPLIER = 0x6d2b79f5;

export function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, number) => number);
  const rank = (number: number): number => Math.imul(number ^ (number >>> 15), MULTIPLIER) >>> 0;
  return order.sort((a, b) => rank(a + 1) - rank(b + 1) || a - b);
}
