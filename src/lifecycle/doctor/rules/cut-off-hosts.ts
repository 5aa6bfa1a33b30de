import type { ProbeHealth } from '../../../contract/health.ts'
import type { HostHealthObservation } from '../../observe/observe-host.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { explainNotReady } from '../../cluster-objects/node-readiness.ts'
import { listProbes } from './probes.ts'

/**
 * Finds hosts that the operator reaches but the rest of the cluster does not. Such a host reaches no API
 * server although others are ready and its own proxy is healthy.
 */
export function findCutOffHosts(observation: ClusterHealthObservation): Diagnosis[] {
  return observation.hosts.flatMap((host) => diagnoseCutOff(host, observation))
}

function diagnoseCutOff(
  hostObservation: HostHealthObservation,
  { api, nodes }: ClusterHealthObservation,
): Diagnosis[] {
  const { host, node } = hostObservation.endpoint
  const probes = listProbes(hostObservation)
  const isReadyElsewhere = [...api].some(([server, { healthy }]) => server !== host && healthy)
  if (!isReadyElsewhere || isInconclusive(probes)) return []
  const findFailed = (code: string): ProbeHealth[] =>
    probes.filter(
      (probe) => probe.code === code && (probe.state === 'unhealthy' || probe.state === 'degraded'),
    )
  const apiUnreachable = findFailed('API_UNREACHABLE')
  const peersUnreachable = findFailed('PEERS_UNREACHABLE')
  const quorumLost = findFailed('ETCD_NO_QUORUM')
  const nodeObject = nodes?.find(({ metadata }) => metadata.name === node)
  const unready = nodeObject === undefined ? undefined : explainNotReady(nodeObject)
  const isIsolated = peersUnreachable.length > 0 && (quorumLost.length > 0 || unready !== undefined)
  // While an API server restarts, its own host is the first to miss it. One failure is therefore not enough,
  // unless peers are unreachable too.
  const isApiUnreachable = apiUnreachable.some(
    ({ state }) => state === 'unhealthy' || peersUnreachable.length > 0,
  )
  if (!isApiUnreachable && !isIsolated) return []
  const signs = [...apiUnreachable, ...peersUnreachable, ...quorumLost]
  return [
    {
      code: 'HOST_CUT_OFF',
      severity: 'error',
      what: `${host} is reachable for you, but cannot reach the rest of the cluster`,
      since: signs.map(({ since }) => since).toSorted()[0] ?? '',
      host,
      evidence: [
        ...signs.map(
          ({ component, probe, message }) => `${component}, probe ${probe}: ${message ?? 'it fails'}`,
        ),
        ...(unready === undefined ? [] : [`node condition: ${unready}`]),
        `ready elsewhere: the API of ${[...api].flatMap(([server, { healthy }]) => (healthy && server !== host ? [server] : [])).join(', ')}`,
      ],
      command: suggestCommand({ code: 'HOST_CUT_OFF', host }),
      needsOperator: true,
    },
  ]
}

/**
 * True if the proxy is unhealthy or a certificate has expired. Failed probes then do not prove a network
 * problem.
 */
function isInconclusive(probes: readonly ProbeHealth[]): boolean {
  return probes.some(
    ({ component, scope, state, code }) =>
      (component === 'apiserver-proxy' &&
        scope === 'local' &&
        (state === 'unhealthy' || state === 'degraded')) ||
      (code === 'CERTIFICATE_EXPIRED' && state !== 'healthy'),
  )
}
