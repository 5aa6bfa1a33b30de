import type { HealAction } from '../../../contract/health.ts'

const [second, minute, hour] = [1000, 60_000, 3_600_000]

/** One try. What has drifted is put back with each of them, whether it says so or not. */
export interface Rung {
  /** How long after the one before it, in milliseconds. */
  readonly after: number
  readonly do: readonly HealAction['action'][]
  /** Restarted first, though it may be well. */
  readonly first?: string
}

/** What is tried for a component that is not well, and in which order. */
export interface Ladder {
  readonly name: 'usual' | 'seed'
  readonly rungs: readonly Rung[]
  /** For some components, by name, instead of those. They are followed to the letter, whatever a start takes. */
  readonly own: ReadonlyMap<string, readonly Rung[]>
  /** Again and again, once all was tried. */
  readonly again: Rung
  /** How long a start may take before probes can be asked, in milliseconds. */
  readonly startup: number
}

export const usual: Ladder = {
  name: 'usual',
  rungs: [
    { after: 0, do: ['restart'] },
    { after: 30 * second, do: ['rebuild', 'put-back', 'restart'] },
    { after: 30 * second, do: ['capture-logs', 'restart'] },
    ...[0.5, 1, 2, 5, 10].map((pause): Rung => ({ after: pause * minute, do: ['restart'] })),
    { after: minute, do: ['give-up'] },
  ],
  own: new Map(),
  again: { after: hour, do: ['rebuild', 'put-back', 'restart'] },
  startup: 30 * second,
}

/** Six tries; at 3 left the way to the API is opened anew, at 1 left the logs are kept, at 0 that is said. */
function sixTries(apart: number): readonly Rung[] {
  const after = apart * second
  return [
    { after: 0, do: ['restart'] },
    { after, do: ['restart'] },
    { after, do: ['restart'] },
    { after, do: ['restart'], first: 'apiserver-proxy' },
    { after, do: ['restart'] },
    { after, do: ['capture-logs', 'restart'] },
    { after, do: ['give-up'] },
  ]
}

/** As the script that this all began with had it. It knew three components. */
export const seed: Ladder = {
  ...usual,
  name: 'seed',
  own: new Map([
    ['flanneld', sixTries(20)],
    ['kubelet', sixTries(15)],
    ['kube-proxy', sixTries(10)],
  ]),
}

export const ladders = { usual, seed } as const satisfies Record<Ladder['name'], Ladder>

export function rungsFor({ rungs, own }: Ladder, component: string): readonly Rung[] {
  return own.get(component) ?? rungs
}

/** How long a component gets after a start before anybody finds fault with it, in milliseconds. */
export function patienceWith({ own }: Ladder, component: string, grace: number): number {
  return own.has(component) ? 0 : grace
}
