import type { ProbeHealth } from '../../../contract/health.ts'
import type { HostLook } from '../../observe/observe-host.ts'
import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { healingOf } from '../healing.ts'
import { isForPeople, isHarmless } from '../code-order.ts'
import { sentenceOf } from '../summaries.ts'

/** What probes of hosts see: one finding for each code of a component, however many probes say so. */
export function failingProbes({ hosts }: Look): Diagnosis[] {
  return hosts.flatMap((look) => {
    const failed = probesOf(look).filter(({ state }) => state === 'failing' || state === 'shaky')
    const groups = Map.groupBy(failed, (probe) => `${codeOf(probe)} ${probe.component}`)
    return [...groups.values()].map((probes) => diagnosis(look, probes))
  })
}

/** What probes of a host say, by the codes that say the most. */
export function probesOf({ agent }: HostLook): readonly ProbeHealth[] {
  const probes = agent.state === 'answers' ? (agent.health?.probes ?? []) : []
  return probes.map((probe) => ({ ...probe, code: meaningOf(probe, probes) }))
}

/** Whoever is alive, and takes too long to say whether it is ready, waits for others: it is not ready. */
const readiness: Readonly<Record<string, string>> = {
  etcd: 'ETCD_NO_QUORUM',
  'kube-apiserver': 'API_NOT_READY',
}

function meaningOf({ component, scope, code }: ProbeHealth, probes: readonly ProbeHealth[]): string {
  const unready = readiness[component]
  const isAlive = probes
    .filter((one) => one.component === component && one.scope === 'local')
    .every(({ state }) => state === 'well')
  return scope === 'remote' && code === 'HEALTH_NO_ANSWER' && isAlive && unready !== undefined
    ? unready
    : codeOf({ code })
}

function codeOf({ code }: Pick<ProbeHealth, 'code'>): string {
  return code ?? 'HEALTH_UNWELL'
}

function diagnosis(
  { place: { host, os }, agent, logs }: HostLook,
  probes: readonly ProbeHealth[],
): Diagnosis {
  const [first] = probes
  const component = first?.component ?? ''
  const code = first === undefined ? '' : codeOf(first)
  const health = agent.state === 'answers' ? agent.health : undefined
  const isLocal = probes.some(({ scope }) => scope === 'local')
  const told = isLocal && health !== undefined ? healingOf(health, component) : undefined
  // Whoever looks from afar may be mistaken once; whoever asks the program itself is not.
  const isSure = isLocal || probes.some(({ state }) => state === 'failing')
  return {
    code,
    severity: isSure && !isHarmless(code) ? 'error' : 'warning',
    what: sentenceOf(code, component),
    since: earliest(probes.map(({ since }) => since)),
    host,
    component,
    evidence: [
      ...probes.map(({ probe, seen }) => `probe ${probe}: ${seen ?? 'it fails'}`),
      ...(isLocal ? (logs.get(component) ?? []) : []),
    ],
    command: commandFor({ code, host, component, os }),
    ...(told === undefined ? {} : { healing: told.healing }),
    needsPerson: isForPeople(code) || (told?.isOver ?? false),
  }
}

function earliest(times: readonly string[]): string {
  return times.toSorted()[0] ?? ''
}
