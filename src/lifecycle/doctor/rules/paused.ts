import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

/** Hosts that nobody looks after for a while, because a person said so. */
export function pausedHosts({ hosts }: Look): Diagnosis[] {
  return hosts.flatMap(({ place: { host }, agent }): Diagnosis[] => {
    const paused = agent.state === 'answers' ? agent.health?.paused : undefined
    if (paused === undefined) return []
    return [
      {
        code: 'HEAL_PAUSED',
        severity: 'warning',
        what: `nothing is healed on ${host} until ${paused.until}`,
        host,
        evidence: [`paused by ${paused.by}`],
        command: commandFor({ code: 'HEAL_PAUSED', host }),
        needsPerson: false,
      },
    ]
  })
}
