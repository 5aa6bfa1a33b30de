import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { probesOf } from './probes.ts'

/** Disks that are full, where no probe has said so: an agent may be the first to suffer from it. */
export function fullDisks({ hosts }: Look): Diagnosis[] {
  return hosts.flatMap((look) => {
    const { host, os } = look.place
    const isTold = probesOf(look).some(
      ({ code, state }) => code === 'DISK_FULL' && (state === 'failing' || state === 'shaky'),
    )
    if (isTold || look.disks.length === 0) return []
    return [
      {
        code: 'DISK_FULL',
        severity: 'error',
        what: `a disk of ${host} is full`,
        host,
        evidence: look.disks.map(({ mounted, used }) => `${mounted} is used by ${(used * 100).toFixed(1)} %`),
        command: commandFor({ code: 'DISK_FULL', host, os }),
        needsPerson: true,
      } as const,
    ]
  })
}
