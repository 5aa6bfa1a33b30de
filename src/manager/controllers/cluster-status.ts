import { isDeepStrictEqual } from 'node:util'
import type { ClusterStatus } from '../../contract/cluster-status.ts'
import { quorumSize } from '../../kit/quorum.ts'
import { clusterStatusKind, clusterStatusName } from '../../kube/cluster-status.ts'
import { WatchSpec } from '../../kube/informers.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { applyStatus, createObject } from '../../kube/write-objects.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { Heartbeats, silentAfterMs } from '../heartbeats.ts'
import {
  hostWatch,
  isHostChanged,
  isReportingMember,
  type KnownHost,
  type KnownNode,
  nodeWatch,
} from '../watch-specs.ts'

/** Watches the ClusterStatus object. */
export const statusWatch = new WatchSpec({
  name: 'cluster-statuses',
  kind: clusterStatusKind,
  select: ({ status }): { readonly status: ClusterStatus | undefined } => ({ status }),
})

/** Milliseconds for which changes are collected before the status is written. */
const batchMs = 2000

export const clusterStatusController: ControllerDefinition = {
  name: 'cluster-status',
  aliases: ['status'],
  summary: 'writes the status of the whole cluster into one object, only when it changes',
  byDefault: true,
  watches: [nodeWatch, hostWatch, statusWatch],
  rules: [
    { apiGroups: ['hyperkube.dev'], resources: ['clusterstatuses'], verbs: ['create'] },
    {
      ...{ apiGroups: ['hyperkube.dev'], resources: ['clusterstatuses/status'] },
      ...{ resourceNames: [clusterStatusName], verbs: ['patch'] },
    },
  ],
  build(context) {
    const { queue, client, now } = context
    const [known, agents, published] = [
      context.getInformer(nodeWatch),
      context.getInformer(hostWatch),
      context.getInformer(statusWatch),
    ]
    const heartbeats = new Heartbeats(context)
    const enqueue = (): void => queue.addAfter(clusterStatusName, batchMs)
    known.listen(enqueue)
    published.listen(enqueue)
    agents.listen((change) => {
      const wasSilent = heartbeats.isSilent(change.key)
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      if (isHostChanged(change) || wasSilent) enqueue()
    })
    enqueue()
    return createReconciler(context, {
      async reconcile(name) {
        const summary = summarizeCluster({
          nodes: [...known.keys()].flatMap((node) => known.get(node) ?? []),
          hosts: [...agents.keys()].flatMap((host) => {
            const agent = agents.get(host)
            return agent === undefined ? [] : [{ ...agent, silent: heartbeats.isSilent(host) }]
          }),
        })
        const before = published.get(name)?.status
        const { since, ...rest } = before ?? { since: undefined }
        if (!isDeepStrictEqual(rest, summary)) {
          const keptSince = before?.state === summary.state ? since : undefined
          const status: ClusterStatus = { ...summary, since: keptSince ?? now().toISOString() }
          const { apiVersion, kind } = clusterStatusKind
          const manifest = { apiVersion, kind, metadata: { name } }
          if (published.get(name) === undefined) {
            await createObject(client, manifest).catch((error: unknown) => {
              if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
            })
          }
          await applyStatus(
            client,
            { ...manifest, status },
            { force: true, manager: 'hyperkube-cluster-status' },
          )
        }
        return { requeueAfter: silentAfterMs / 2 }
      },
    })
  },
}

export interface ClusterStatusInput {
  readonly nodes: readonly KnownNode[]
  readonly hosts: readonly (KnownHost & { readonly silent: boolean })[]
}

type Finding = ClusterStatus['findings'][number]

/** Maximum number of findings in the status. The counts of nodes, hosts and etcd members stay complete. */
const maxFindings = 20

/**
 * Summarizes the cluster. The result does not depend on the order of the input and does not change with time
 * alone.
 */
export function summarizeCluster({ nodes, hosts }: ClusterStatusInput): Omit<ClusterStatus, 'since'> {
  const members = hosts.filter(isReportingMember)
  const serving = members.filter(({ status, silent }) => status.etcd?.ready === true && !silent)
  const ready = nodes.filter((node) => node.ready === 'True')
  const findings = [...nodes.flatMap(buildNodeFindings), ...hosts.flatMap(buildHostFindings)].toSorted(
    compareBySeverity,
  )
  const hasQuorum = members.length === 0 || serving.length >= quorumSize(members.length)
  const isWorking = hasQuorum && (nodes.length === 0 || ready.length > nodes.length / 2)
  const certificates = findEarliestExpiry(hosts)
  const snapshot = findNewestSnapshot(members)
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
  return ready === 'True' ? [] : [{ severity: 'error', host: name, message: 'the node is not ready' }]
}

function buildHostFindings({ name: host, status, silent }: ClusterStatusInput['hosts'][number]): Finding[] {
  if (silent) return [{ severity: 'error', host, message: 'the agent does not report' }]
  const components = (status.components ?? []).filter(({ state }) => state !== 'healthy')
  const failing = (status.failing ?? []).filter(({ code }) => code?.startsWith('DISK_') === true)
  const conditions = (status.conditions ?? []).filter((condition) => condition.status === 'False')
  return [
    ...components.map(({ component, state }): Finding => ({
      ...{ severity: state === 'exhausted' ? 'error' : 'warning', host },
      message: state === 'exhausted' ? `${component}: all healing steps failed` : `${component} is unhealthy`,
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
