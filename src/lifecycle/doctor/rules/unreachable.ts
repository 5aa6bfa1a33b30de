import type { ProbeHealth } from '../../../contract/health.ts'
import { formatCount } from '../../../kit/text.ts'
import { explainNotReady } from '../../cluster-objects/node.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import type { HostHealthObservation } from '../../observe/observe-host.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { listProbes } from './probes.ts'

/** Finds hosts that the operator cannot reach by ssh. If no host is reachable, returns a single diagnosis. */
export function findUnreachableHosts(observation: ClusterHealthObservation): Diagnosis[] {
  const { hosts, nodes } = observation
  return isNoHostReachable(observation)
    ? [diagnoseNoHostReachable(observation)]
    : hosts.flatMap(
        ({ endpoint: { host, address, node }, unreachable }: HostHealthObservation): Diagnosis[] => {
          if (unreachable === undefined) return []
          const nodeObject = nodes?.find(({ metadata }) => metadata.name === node)
          const ready = nodeObject?.status?.conditions.find(({ type }) => type === 'Ready')
          const unready = nodeObject === undefined ? undefined : explainNotReady(nodeObject)
          const since = unready === undefined ? undefined : ready?.lastTransitionTime
          const isUnreachable = unreachable.code === 'HOST_UNREACHABLE'
          return [
            {
              code: unreachable.code,
              severity: 'error',
              what: isUnreachable ? `${host} is unreachable` : `${host} refuses the login`,
              host,
              ...(since === undefined ? {} : { since }),
              evidence: [
                `ssh to ${address}: ${unreachable.reason}`,
                ...(unready === undefined ? [] : [`node condition: ${unready}`]),
              ],
              command: unreachable.hint ?? suggestHostCommand(unreachable.code, host, observation),
              needsOperator: true,
            },
          ]
        },
      )
}

/**
 * True if all hosts were tried and all are unreachable. The network of the operator is then the likely cause.
 */
function isNoHostReachable({ hosts, endpoints }: ClusterHealthObservation): boolean {
  return (
    hosts.length > 0 &&
    hosts.length === endpoints.length &&
    hosts.every(({ unreachable }) => unreachable?.code === 'HOST_UNREACHABLE')
  )
}

/**
 * Maximum number of hosts in the evidence. A few are enough, because usually all hosts are unreachable for
 * the same reason.
 */
const maxHosts = 5

function diagnoseNoHostReachable({ hosts }: ClusterHealthObservation): Diagnosis {
  const evidence = hosts.map(
    ({ endpoint: { host, address }, unreachable }) => `${host}, ssh to ${address}: ${unreachable?.reason}`,
  )
  const omittedCount = evidence.length - maxHosts
  const sshCommand = hosts.find(({ endpoint }) => endpoint.os !== 'windows')?.endpoint.sshCommand
  return {
    code: 'NO_HOST_REACHABLE',
    severity: 'error',
    what: 'no host is reachable from this machine',
    evidence: [
      ...evidence.slice(0, maxHosts),
      ...(omittedCount > 0 ? [`and ${formatCount(omittedCount, 'more host')}`] : []),
    ],
    command: sshCommand === undefined ? suggestCommand({ code: 'NO_HOST_REACHABLE' }) : `${sshCommand} true`,
    needsOperator: true,
  }
}

function suggestHostCommand(code: string, host: string, observation: ClusterHealthObservation): string {
  return code === 'HOST_UNREACHABLE' && canRemove(host, observation)
    ? `start ${host}, or fix its network; if it is lost permanently: hyperkube node remove ${host}`
    : suggestCommand({ code, host })
}

/**
 * True if an unreachable host can be removed from the cluster. This needs another reachable control plane,
 * and for an etcd member also a quorum.
 */
function canRemove(host: string, { endpoints, hosts, api, etcd }: ClusterHealthObservation): boolean {
  const isMember = endpoints.some((endpoint) => endpoint.host === host && endpoint.etcd)
  const hasQuorum = etcd.state === 'observed' && etcd.observed.confirmed
  const hasControlPlane = endpoints.some((endpoint) => {
    if (!endpoint.api || endpoint.host === host) return false
    const observed = hosts.find((one) => one.endpoint.host === endpoint.host)
    // With --limit the other hosts are not observed, but all API servers are. A healthy API server proves
    // that its host is reachable.
    return observed === undefined
      ? api.get(endpoint.host)?.healthy === true
      : observed.unreachable === undefined
  })
  return hasControlPlane && (!isMember || hasQuorum)
}

/**
 * Finds hosts that the operator reaches but the rest of the cluster does not. Such a host reaches no API
 * server, although other hosts have ready ones. Or it does not reach its peers, and either its node is not
 * ready or its etcd member has no quorum.
 */
export function findCutOffHosts(observation: ClusterHealthObservation): Diagnosis[] {
  return observation.hosts.flatMap((host) => diagnoseCutOff(host, observation))
}

function diagnoseCutOff(
  hostObservation: HostHealthObservation,
  { api, nodes }: ClusterHealthObservation,
): Diagnosis[] {
  const { host, node, flannel } = hostObservation.endpoint
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
  // While an API server restarts, the probes of its own host fail first. A single failure therefore proves
  // nothing, unless peers are unreachable too.
  const isApiUnreachable = apiUnreachable.some(
    ({ state }) => state === 'unhealthy' || peersUnreachable.length > 0,
  )
  if (!isApiUnreachable && !isIsolated) return []
  const signs = [...apiUnreachable, ...peersUnreachable, ...quorumLost]
  return [
    {
      code: 'HOST_CUT_OFF',
      severity: 'error',
      what: `${host} is reachable from this machine, but cannot reach the rest of the cluster`,
      since: signs.map(({ since }) => since).toSorted()[0] ?? '',
      host,
      evidence: [
        ...signs.map(
          ({ component: agentComponent, probe, message }) =>
            `${agentComponent}, probe ${probe}: ${message ?? 'failed'}`,
        ),
        ...(unready === undefined ? [] : [`node condition: ${unready}`]),
        `API servers that are ready on other hosts: ${[...api].flatMap(([server, { healthy }]) => (healthy && server !== host ? [server] : [])).join(', ')}`,
      ],
      command: suggestCommand({
        code: 'HOST_CUT_OFF',
        host,
        hasOwnNetwork: node !== undefined && flannel !== true,
      }),
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
    ({ component: agentComponent, scope, state, code }) =>
      (agentComponent === 'apiserver-proxy' &&
        scope === 'local' &&
        (state === 'unhealthy' || state === 'degraded')) ||
      (code === 'CERTIFICATE_EXPIRED' && state !== 'healthy'),
  )
}

const agentComponent = 'hyperkube-agent'

/** Finds reachable hosts whose agents do not answer, or are too old to report health. */
export function findUnreachableAgents({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap(
    ({ endpoint: { host, os }, unreachable, agent, version, services, logs }): Diagnosis[] => {
      if (unreachable !== undefined) return []
      if (agent.state === 'unreachable') {
        const isInstalled = version !== undefined
        const unit = services.find(({ name }) => name === agentComponent)
        return [
          {
            code: 'AGENT_UNREACHABLE',
            severity: 'error',
            what: isInstalled
              ? `the agent of ${host} does not answer`
              : `hyperkube is not installed on ${host}`,
            host,
            component: agentComponent,
            evidence: [
              agent.reason,
              ...(unit === undefined
                ? []
                : [
                    `${os === 'windows' ? 'the service manager' : 'systemd'}: ${agentComponent} is ${unit.state}, restarts: ${unit.restarts}`,
                  ]),
              ...(logs.get(agentComponent) ?? []),
            ],
            command: isInstalled
              ? suggestCommand({ code: 'AGENT_UNREACHABLE', host, os })
              : `hyperkube up --limit ${host}`,
            needsOperator: !isInstalled || unit?.state === 'stopped' || unit?.state === 'missing',
          },
        ]
      }
      if (agent.health !== undefined) return []
      return [
        {
          code: 'AGENT_NO_HEALTH',
          severity: 'warning',
          what: `the agent of ${host} is too old to report health`,
          host,
          component: agentComponent,
          evidence: [`agent version ${agent.version}`],
          command: suggestCommand({ code: 'AGENT_NO_HEALTH', host }),
          needsOperator: true,
        },
      ]
    },
  )
}
