import type { ClusterStatus } from '../../../contract/cluster-status.ts'
import type { KnownHost, KnownNode } from '../../watch-specs.ts'

export interface ClusterStatusInput {
  readonly nodes: readonly KnownNode[]
  readonly hosts: readonly (KnownHost & { readonly silent: boolean })[]
}

type Finding = ClusterStatus['findings'][number]

/** Maximum number of findings in the status. More would not be read, and the counts cover the rest. */
const maxFindings = 20

/**
 * Summarizes the cluster. The result does not depend on the order of the input and does not change with time
 * alone.
 */
export function summarizeCluster({ nodes, hosts }: ClusterStatusInput): Omit<ClusterStatus, 'since'> {
  const members = hosts.filter(({ status }) => status.etcd !== undefined)
  const serving = members.filter(({ status, silent }) => status.etcd?.ready === true && !silent)
  const ready = nodes.filter((node) => node.ready === 'True')
  const findings = [...nodes.flatMap(buildNodeFindings), ...hosts.flatMap(buildHostFindings)].toSorted(
    compareBySeverity,
  )
  const hasQuorum = members.length === 0 || serving.length > members.length / 2
  const isWorking = hasQuorum && (nodes.length === 0 || ready.length > nodes.length / 2)
  const certificates = findEarliestExpiry(hosts)
  const snapshot = findNewestSnapshot(hosts)
  return {
    state: isWorking ? (findings.length === 0 ? 'healthy' : 'degraded') : 'unhealthy',
    nodes: {
      ...{ all: nodes.length, ready: ready.length },
      unschedulable: nodes.filter(({ unschedulable }) => unschedulable).length,
      kubelets: countVersions(nodes.map(({ kubelet }) => kubelet)),
    },
    hosts: {
      ...{ all: hosts.length, reporting: hosts.filter(({ silent }) => !silent).length },
      agents: countVersions(hosts.map(({ status }) => status.agent ?? '')),
    },
    etcd: { members: members.length, ready: serving.length },
    ...(certificates === undefined ? {} : { certificates }),
    ...(snapshot === undefined ? {} : { snapshot }),
    findings: findings.slice(0, maxFindings),
  }
}

function buildNodeFindings({ name, ready }: KnownNode): Finding[] {
  return ready === 'True' ? [] : [{ severity: 'error', host: name, message: 'its node is not ready' }]
}

function buildHostFindings({ name: host, status, silent }: ClusterStatusInput['hosts'][number]): Finding[] {
  if (silent) return [{ severity: 'error', host, message: 'its agent does not report' }]
  const components = (status.components ?? []).filter(({ state }) => state !== 'healthy')
  const failing = (status.failing ?? []).filter(({ code }) => code?.startsWith('DISK_') === true)
  const conditions = (status.conditions ?? []).filter((condition) => condition.status === 'False')
  return [
    ...components.map(({ component, state }): Finding => ({
      ...{ severity: state === 'exhausted' ? 'error' : 'warning', host },
      message: state === 'exhausted' ? `${component} needs an operator` : `${component} is unhealthy`,
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

function compareBySeverity(a: Finding, b: Finding): number {
  const rank = ({ severity, host = '', message }: Finding): string => `${severity} ${host} ${message}`
  return rank(a) < rank(b) ? -1 : 1
}

function countVersions(all: readonly string[]): { version: string; count: number }[] {
  return [...Map.groupBy(all, (version) => version)]
    .map(([version, matching]) => ({ version, count: matching.length }))
    .toSorted((a, b) => (a.version < b.version ? -1 : 1))
}

function findEarliestExpiry(hosts: ClusterStatusInput['hosts']): ClusterStatus['certificates'] {
  const ends = hosts.flatMap(({ name, status }) =>
    (status.certificates ?? []).map(({ notAfter }) => ({
      earliestExpiry: notAfter.slice(0, 10),
      host: name,
    })),
  )
  return ends.toSorted((a, b) => (a.earliestExpiry + a.host < b.earliestExpiry + b.host ? -1 : 1))[0]
}

function findNewestSnapshot(hosts: ClusterStatusInput['hosts']): ClusterStatus['snapshot'] {
  const all = hosts.flatMap(({ name: host, status }) =>
    (status.snapshots ?? []).map(({ name, takenAt }) => ({ takenAt, name, host })),
  )
  const [newest] = all.toSorted((a, b) => (a.takenAt + a.host > b.takenAt + b.host ? -1 : 1))
  return newest === undefined ? undefined : { name: newest.name, host: newest.host }
}
