import type { ProbeHealth } from '../../../contract/health.ts'
import type { HostLook } from '../../observe/observe-host.ts'
import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { whyNotReady } from '../../cluster-objects/node-readiness.ts'
import { probesOf } from './probes.ts'

/**
 * Hosts that an operator reaches and the rest of the cluster does not: they find no API server though others are ready, and
 * what they would find it with is well.
 */
export function cutOffHosts(look: Look): Diagnosis[] {
  return look.hosts.flatMap((host) => cutOff(host, look))
}

function cutOff(hostLook: HostLook, { api, nodes }: Look): Diagnosis[] {
  const { host, node } = hostLook.place
  const probes = probesOf(hostLook)
  const isWellElsewhere = [...api].some(([server, { well }]) => server !== host && well)
  if (!isWellElsewhere || isBlind(probes)) return []
  const failed = (code: string): ProbeHealth[] =>
    probes.filter((probe) => probe.code === code && (probe.state === 'failing' || probe.state === 'shaky'))
  const unreached = failed('API_NOT_REACHED')
  const silent = failed('NEIGHBOURS_SILENT')
  const alone = failed('ETCD_NO_QUORUM')
  const known = nodes?.find(({ metadata }) => metadata.name === node)
  const unready = known === undefined ? undefined : whyNotReady(known)
  const isAlone = silent.length > 0 && (alone.length > 0 || unready !== undefined)
  // A server that starts anew is missed for a moment by its own host first: once is not enough, unless others are missed too.
  const isUnreached = unreached.some(({ state }) => state === 'failing' || silent.length > 0)
  if (!isUnreached && !isAlone) return []
  const signs = [...unreached, ...silent, ...alone]
  return [
    {
      code: 'HOST_CUT_OFF',
      severity: 'error',
      what: `${host} answers you, and does not reach the rest of the cluster`,
      since: signs.map(({ since }) => since).toSorted()[0] ?? '',
      host,
      evidence: [
        ...signs.map(({ component, probe, seen }) => `${component}, probe ${probe}: ${seen ?? 'it fails'}`),
        ...(unready === undefined ? [] : [`the API says of its node: ${unready}`]),
        `ready elsewhere: the API of ${[...api].flatMap(([server, { well }]) => (well && server !== host ? [server] : [])).join(', ')}`,
      ],
      command: commandFor({ code: 'HOST_CUT_OFF', host }),
      needsPerson: true,
    },
  ]
}

/** Who has no proxy, or no certificate that is taken, cannot say whether the way is there. */
function isBlind(probes: readonly ProbeHealth[]): boolean {
  return probes.some(
    ({ component, scope, state, code }) =>
      (component === 'apiserver-proxy' && scope === 'local' && (state === 'failing' || state === 'shaky')) ||
      (code === 'CERTIFICATE_EXPIRED' && state !== 'well'),
  )
}
