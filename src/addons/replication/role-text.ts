import { printable } from '../../host/format.ts';
import type { ReplicaView } from './node-view.ts';

export function roleText({ role, epoch, leader, isLeading, lagMs, problem }: ReplicaView): string {
  if (problem !== null) return `${role}, stopped: ${problem}`;
  if (isLeading) return `leading, epoch ${epoch}`;
  const whom = leader === null ? 'no known leader' : `${printable(leader.node)} leads`;
  return `${role}, epoch ${epoch}, ${whom}, ${(lagMs / 1000).toFixed(1)} s behind`;
}
