import { explainNotReady, listBlockingTaints } from '../../cluster-objects/node.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { listProbes } from './probes.ts'

const component = 'kube-apiserver'

/**
 * Reports an outage of the whole API, and each unready API server that no probe has reported. Both are
 * observed from the operator's machine.
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
    what: 'no API server is ready: running pods keep running, but no change is possible',
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
    what: 'the API server is not ready',
    host,
    component,
    evidence: [reason],
    command: suggestCommand({ code: 'API_NOT_READY', host }),
    needsOperator: false,
  }
}

/**
 * Finds nodes that are not ready. If the API does not answer, nothing is returned, because another rule
 * reports the outage.
 */
export function findUnreadyNodes({ hosts, nodes }: ClusterHealthObservation): Diagnosis[] {
  if (nodes === undefined) return []
  return hosts.flatMap(({ endpoint: { host, node: name } }): Diagnosis[] => {
    if (name === undefined) return []
    const node = nodes.find(({ metadata }) => metadata.name === name)
    const reason = explainNotReady(node)
    if (reason === undefined) return []
    const since = node?.status?.conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime
    return [
      {
        code: 'NODE_NOT_READY',
        severity: 'error',
        what: `node ${name} is not ready`,
        ...(since === undefined ? {} : { since }),
        host,
        evidence: [
          `node condition: ${reason}`,
          ...(node === undefined ? [] : listBlockingTaints(node)).map(
            (taint) => `taint ${taint} prevents new pods`,
          ),
        ],
        command: suggestCommand({ code: 'NODE_NOT_READY', host }),
        needsOperator: false,
      },
    ]
  })
}
