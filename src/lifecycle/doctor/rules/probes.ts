import type { ProbeHealth } from '../../../contract/health.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import type { HostHealthObservation } from '../../observe/observe-host.ts'
import { suggestCommand, summarizeCode } from '../commands.ts'
import { type Diagnosis, isHarmless, needsOperatorAction } from '../diagnosis.ts'
import { describeHealing } from '../healing.ts'

/** Reports failing probes. Probes with the same code and component give one diagnosis. */
export function findFailingProbes({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap((observation) => {
    const failed = listProbes(observation).filter(
      ({ state }) => state === 'unhealthy' || state === 'degraded',
    )
    const groups = Map.groupBy(failed, (probe) => `${readCode(probe)} ${probe.component}`)
    return [...groups.values()].map((probes) => buildDiagnosis(observation, probes))
  })
}

/** Lists the probes of a host with their most specific codes. */
export function listProbes({ agent }: HostHealthObservation): readonly ProbeHealth[] {
  const probes = agent.state === 'reachable' ? (agent.health?.probes ?? []) : []
  return probes.map((probe) => ({ ...probe, code: refineProbeCode(probe, probes) }))
}

/**
 * Codes for components whose local probes succeed but whose readiness probe times out. Such a component runs,
 * but waits for other components.
 */
const readinessCodes: Readonly<Record<string, string>> = {
  etcd: 'ETCD_NO_QUORUM',
  'kube-apiserver': 'API_NOT_READY',
}

function refineProbeCode({ component, scope, code }: ProbeHealth, probes: readonly ProbeHealth[]): string {
  const unready = readinessCodes[component]
  const isAlive = probes
    .filter((candidate) => candidate.component === component && candidate.scope === 'local')
    .every(({ state }) => state === 'healthy')
  return scope === 'remote' && code === 'HEALTH_NO_RESPONSE' && isAlive && unready !== undefined
    ? unready
    : readCode({ code })
}

function readCode({ code }: Pick<ProbeHealth, 'code'>): string {
  return code ?? 'HEALTH_CHECK_FAILED'
}

function buildDiagnosis(
  { endpoint: { host, os, flannel }, agent, logs }: HostHealthObservation,
  probes: readonly ProbeHealth[],
): Diagnosis {
  const [first] = probes
  const component = first?.component ?? ''
  const code = first === undefined ? '' : readCode(first)
  const health = agent.state === 'reachable' ? agent.health : undefined
  const isLocal = probes.some(({ scope }) => scope === 'local')
  const described = isLocal && health !== undefined ? describeHealing(health, component) : undefined
  // A single failure of a remote probe may be a false alarm, so it is only a warning. A failure of a local
  // probe is certain.
  const isCertain = isLocal || probes.some(({ state }) => state === 'unhealthy')
  return {
    code,
    severity: isCertain && !isHarmless(code) ? 'error' : 'warning',
    what: summarizeCode(code, component),
    since: earliest(probes.map(({ since }) => since)),
    host,
    component,
    evidence: [
      ...probes.map(({ probe, message }) => `probe ${probe}: ${message ?? 'failed'}`),
      ...(isLocal ? (logs.get(component) ?? []) : []),
    ],
    command: suggestCommand({ code, host, component, os, hasOwnNetwork: flannel !== true }),
    ...(described === undefined ? {} : { healing: described.healing }),
    needsOperator: needsOperatorAction(code) || (described?.isExhausted ?? false),
  }
}

function earliest(times: readonly string[]): string {
  return times.toSorted()[0] ?? ''
}
