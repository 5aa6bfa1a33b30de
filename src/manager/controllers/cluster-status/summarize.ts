import type { ClusterStatus } from '../../../contract/cluster-status.ts'
import type { KnownHost, KnownNode } from '../../watch-specs.ts'

export interface Observed {
  readonly nodes: readonly KnownNode[]
  readonly hosts: readonly (KnownHost & { readonly silent: boolean })[]
}

type Finding = ClusterStatus['findings'][number]

/** Nobody reads more; how many there are the numbers say. */
const most = 20

/** How a cluster is. The same for the same, in whatever order it comes, and nothing in it goes on by itself. */
export function summarize({ nodes, hosts }: Observed): Omit<ClusterStatus, 'since'> {
  const members = hosts.filter(({ status }) => status.etcd !== undefined)
  const serving = members.filter(({ status, silent }) => status.etcd?.ready === true && !silent)
  const ready = nodes.filter((node) => node.ready === 'True')
  const findings = [...nodes.flatMap(nodeFindings), ...hosts.flatMap(hostFindings)].toSorted(worstFirst)
  const hasQuorum = members.length === 0 || serving.length > members.length / 2
  const works = hasQuorum && (nodes.length === 0 || ready.length > nodes.length / 2)
  const certificates = firstEnd(hosts)
  const snapshot = newestSnapshot(hosts)
  return {
    state: works ? (findings.length === 0 ? 'well' : 'degraded') : 'failing',
    nodes: {
      ...{ all: nodes.length, ready: ready.length },
      unschedulable: nodes.filter(({ unschedulable }) => unschedulable).length,
      kubelets: versionsOf(nodes.map(({ kubelet }) => kubelet)),
    },
    hosts: {
      ...{ all: hosts.length, heard: hosts.filter(({ silent }) => !silent).length },
      agents: versionsOf(hosts.map(({ status }) => status.agent ?? '')),
    },
    etcd: { members: members.length, ready: serving.length },
    ...(certificates === undefined ? {} : { certificates }),
    ...(snapshot === undefined ? {} : { snapshot }),
    findings: findings.slice(0, most),
  }
}

function nodeFindings({ name, ready }: KnownNode): Finding[] {
  return ready === 'True' ? [] : [{ severity: 'error', host: name, message: 'its node is not ready' }]
}

function hostFindings({ name: host, status, silent }: Observed['hosts'][number]): Finding[] {
  if (silent) return [{ severity: 'error', host, message: 'nothing is heard of its agent' }]
  const components = (status.components ?? []).filter(({ state }) => state !== 'well')
  const failing = (status.failing ?? []).filter(({ code }) => code?.startsWith('DISK_') === true)
  const conditions = (status.conditions ?? []).filter((condition) => condition.status === 'False')
  return [
    ...components.map(({ component, state }): Finding => ({
      ...{ severity: state === 'given-up' ? 'error' : 'warning', host },
      message: state === 'given-up' ? `${component} needs a person` : `${component} is not well`,
    })),
    ...failing.map(({ code }): Finding => ({ severity: 'warning', host, message: `a disk: ${code}` })),
    ...(status.etcd?.alarms ?? []).map(({ alarm }): Finding => ({
      severity: 'error',
      host,
      message: `etcd: ${alarm}`,
    })),
    ...conditions.map(({ message }): Finding => ({ severity: 'warning', host, message })),
  ]
}

function worstFirst(a: Finding, b: Finding): number {
  const rank = ({ severity, host = '', message }: Finding): string => `${severity} ${host} ${message}`
  return rank(a) < rank(b) ? -1 : 1
}

function versionsOf(all: readonly string[]): { version: string; count: number }[] {
  return [...Map.groupBy(all, (version) => version)]
    .map(([version, some]) => ({ version, count: some.length }))
    .toSorted((a, b) => (a.version < b.version ? -1 : 1))
}

function firstEnd(hosts: Observed['hosts']): ClusterStatus['certificates'] {
  const ends = hosts.flatMap(({ name, status }) =>
    (status.certificates ?? []).map(({ notAfter }) => ({ firstEnds: notAfter.slice(0, 10), host: name })),
  )
  return ends.toSorted((a, b) => (a.firstEnds + a.host < b.firstEnds + b.host ? -1 : 1))[0]
}

function newestSnapshot(hosts: Observed['hosts']): ClusterStatus['snapshot'] {
  const all = hosts.flatMap(({ name: host, status }) =>
    (status.snapshots ?? []).map(({ name, taken }) => ({ taken, name, host })),
  )
  const [newest] = all.toSorted((a, b) => (a.taken + a.host > b.taken + b.host ? -1 : 1))
  return newest === undefined ? undefined : { name: newest.name, host: newest.host }
}
