import { randomBytes } from 'node:crypto'
import { mostTargets, type ProbeResult } from '../../contract/network-probe.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { Session } from '../session.ts'
import type { Need } from './required-connection.ts'
import type { Peer } from './peer.ts'
import { type Opened, targetOf } from './probe-target.ts'

export type Agents = ReadonlyMap<string, Pick<Session, 'ask'>>

/** What became of a need. */
export interface Observed {
  readonly need: Need
  readonly result: ProbeResult
  /** Whether the other host's agent listened; if not, the component itself does, or nobody. */
  readonly listened: boolean
}

/** Longer than a round takes, also where nobody answers. */
const listenFor = 30_000

/** Has new hosts listen and all look, in rounds that end before listeners do. What cannot be looked at is left out. */
export async function observe(
  agents: Agents,
  needs: readonly Need[],
  fresh: ReadonlySet<string>,
): Promise<readonly Observed[]> {
  const observed: Observed[] = []
  for (const round of rounds(needs)) observed.push(...(await observeRound(agents, round, fresh)))
  return observed
}

/** No host looks for more in a round than it may be asked at once. */
export function rounds(needs: readonly Need[], most = mostTargets): readonly (readonly Need[])[] {
  const asked = new Map<Peer, number>()
  const found: Need[][] = []
  for (const need of needs) {
    const before = asked.get(need.from) ?? 0
    asked.set(need.from, before + 1)
    const round = (found[Math.floor(before / most)] ??= [])
    round.push(need)
  }
  return found
}

async function observeRound(
  agents: Agents,
  needs: readonly Need[],
  fresh: ReadonlySet<string>,
): Promise<readonly Observed[]> {
  const opened = await listen(
    agents,
    needs.filter(({ to }) => fresh.has(to.host)),
  )
  try {
    const looks = Map.groupBy(needs, ({ from }) => from.host)
    const seen = await settleAll([...looks].map(async ([host, own]) => look(agents.get(host), own, opened)))
    return seen.flat()
  } finally {
    // A host that does not hear it closes its ports by itself.
    await Promise.allSettled(
      [...opened].map(async ([host, { token }]) => agents.get(host)?.ask({ type: 'hush', token }, 'hushed')),
    )
  }
}

/** By host what it opened. A host where the cluster lives is spared: a component may be about to take its port. */
async function listen(agents: Agents, needs: readonly Need[]): Promise<ReadonlyMap<string, Opened>> {
  const sought = Map.groupBy(needs, ({ to }) => to)
  const opened = await settleAll(
    [...sought].flatMap(([{ host, address, ports }]) => {
      const agent = agents.get(host)
      if (agent === undefined) return []
      const numbers = (wanted: 'tcp' | 'udp'): number[] =>
        ports.filter(({ protocol }) => protocol === wanted).map(({ port }) => port)
      const token = randomBytes(16).toString('hex')
      const wish = { address, tcp: numbers('tcp'), udp: numbers('udp'), token, for: listenFor }
      return [
        (async () => {
          const { tcp, udp } = await agent.ask({ type: 'listen', ...wish }, 'listening')
          return [host, { token, tcp, udp }] as const
        })(),
      ]
    }),
  )
  return new Map(opened)
}

async function look(
  agent: Pick<Session, 'ask'> | undefined,
  needs: readonly Need[],
  opened: ReadonlyMap<string, Opened>,
): Promise<readonly Observed[]> {
  const looks = needs.flatMap((need) => {
    const own = opened.get(need.to.host)
    const target = targetOf(need, own)
    return target === undefined ? [] : [{ need, target }]
  })
  if (agent === undefined || looks.length === 0) return []
  const targets = looks.map(({ target }) => target)
  const { results } = await agent.ask({ type: 'probe', targets }, 'probed')
  return looks.flatMap(({ need, target }, index) => {
    const result = results[index]
    return result === undefined ? [] : [{ need, result, listened: target.token !== undefined }]
  })
}
