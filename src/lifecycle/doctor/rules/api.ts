import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { listProbes } from './probes.ts'

const component = 'kube-apiserver'

/**
 * Checks the API as the operator reaches it: the API as a whole, and each unready server that no probe has
 * reported.
 */
export function checkApiServers(observation: ClusterHealthObservation): Diagnosis[] {
  const servers = [...observation.api].filter(([host]) => isReachable(host, observation))
  const unready = servers.flatMap(([host, health]) =>
    health.healthy ? [] : [{ host, reason: health.reason }],
  )
  const isDown = unready.length > 0 && [...observation.api.values()].every(({ healthy }) => !healthy)
  return [
    ...(isDown ? [diagnoseDown(observation)] : []),
    ...unready
      .filter(({ host }) => !isReported(host, observation))
      .map(({ host, reason }) => diagnoseNotReady(host, reason)),
  ]
}

/** False if the host itself is unreachable. Its API server is then not reported separately. */
function isReachable(host: string, { hosts }: ClusterHealthObservation): boolean {
  return hosts.find(({ endpoint }) => endpoint.host === host)?.unreachable === undefined
}

function isReported(host: string, { hosts }: ClusterHealthObservation): boolean {
  const observation = hosts.find(({ endpoint }) => endpoint.host === host)
  return (
    observation !== undefined &&
    listProbes(observation).some(
      (probe) => probe.component === component && (probe.state === 'unhealthy' || probe.state === 'degraded'),
    )
  )
}

function diagnoseDown({ api, hosts }: ClusterHealthObservation): Diagnosis {
  const since = hosts
    .flatMap(listProbes)
    .flatMap(({ code, state, since: startedAt }) =>
      (code === 'API_NOT_READY' || code === 'API_UNREACHABLE') && state !== 'healthy' ? [startedAt] : [],
    )
    .toSorted()[0]
  return {
    code: 'API_DOWN',
    severity: 'error',
    what: 'no API server is ready: pods keep running, and nothing can be changed',
    ...(since === undefined ? {} : { since }),
    component,
    evidence: [...api].flatMap(([host, health]) => (health.healthy ? [] : [`${host}: ${health.reason}`])),
    command: suggestCommand({ code: 'API_DOWN' }),
    needsOperator: false,
  }
}

function diagnoseNotReady(host: string, reason: string): Diagnosis {
  return {
    code: 'API_NOT_READY',
    severity: 'error',
    what: 'its API server is not ready',
    host,
    component,
    evidence: [reason],
    command: suggestCommand({ code: 'API_NOT_READY', host }),
    needsOperator: false,
  }
}
