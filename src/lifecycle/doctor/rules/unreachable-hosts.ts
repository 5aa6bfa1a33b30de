import { whyNotReady } from '../../cluster-objects/node-readiness.ts'
import type { HostLook } from '../../observe/observe-host.ts'
import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

/** Hosts that one cannot log in to. */
export function awayHosts({ hosts, nodes }: Look): Diagnosis[] {
  return hosts.flatMap(({ place: { host, address, node }, away }: HostLook): Diagnosis[] => {
    if (away === undefined) return []
    const known = nodes?.find(({ metadata }) => metadata.name === node)
    const ready = known?.status?.conditions.find(({ type }) => type === 'Ready')
    const unready = known === undefined ? undefined : whyNotReady(known)
    const since = unready === undefined ? undefined : ready?.lastTransitionTime
    const isSilent = away.code === 'HOST_AWAY'
    return [
      {
        code: away.code,
        severity: 'error',
        what: isSilent ? `${host} does not answer` : `${host} does not let you in`,
        host,
        ...(since === undefined ? {} : { since }),
        evidence: [
          `ssh to ${address}: ${away.reason}`,
          ...(unready === undefined ? [] : [`the API says of its node: ${unready}`]),
        ],
        command: away.hint ?? commandFor({ code: away.code, host }),
        needsPerson: true,
      },
    ]
  })
}
