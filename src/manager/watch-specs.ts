import { z } from 'zod'
import type { HostStatus } from '../contract/host-resource.ts'
import { type HostResource, hostKind } from '../kube/host-resource.ts'
import { type Kind, type KubeObject, kubeObject } from '../kube/object.ts'
import { WatchSpec } from '../kube/informers.ts'
import type { ObjectChange } from '../kube/object-store.ts'
import type { ControllerRule } from './controller.ts'

const nodeSchema = kubeObject.extend({
  spec: z.looseObject({ unschedulable: z.boolean().optional() }).optional(),
  status: z
    .looseObject({
      nodeInfo: z.looseObject({ kubeletVersion: z.string().default('') }).optional(),
      conditions: z
        .array(
          z.looseObject({
            type: z.string(),
            status: z.string(),
            reason: z.string().default(''),
            message: z.string().default(''),
            lastTransitionTime: z.string().nullish(),
          }),
        )
        .nullish(),
    })
    .optional(),
})
const nodeKind: Kind<z.infer<typeof nodeSchema>> = { apiVersion: 'v1', kind: 'Node', schema: nodeSchema }

/**
 * The fields of a node condition that controllers need. lastHeartbeatTime is omitted, because kubelets update
 * it every few minutes.
 */
export interface KnownCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string | undefined
}

/** The fields of a node that controllers need. They are few, because there may be thousands of nodes. */
export interface KnownNode {
  readonly name: string
  readonly uid: string | undefined
  readonly kubelet: string
  readonly ready: string
  readonly unschedulable: boolean
  /**
   * Name of the hyperkube controller that cordoned the node, from its annotation. Undefined without the
   * annotation.
   */
  readonly cordonedBy: string | undefined
  /** Conditions of the node that hyperkube wrote. */
  readonly conditions: readonly KnownCondition[]
}

/** Prefix of the types of all node conditions that hyperkube writes. */
export const conditionPrefix = 'Hyperkube'
/**
 * Annotation with the name of the controller that cordoned a node. If a cordoned node lacks this annotation,
 * a user cordoned it, and controllers do not change it.
 */
export const cordonedByAnnotation = 'hyperkube.dev/cordoned-by'

export const nodeWatch = new WatchSpec({
  name: 'nodes',
  kind: nodeKind,
  select: ({ metadata: { name, uid, annotations }, spec, status }): KnownNode => ({
    name,
    uid,
    kubelet: status?.nodeInfo?.kubeletVersion ?? '',
    ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    unschedulable: spec?.unschedulable ?? false,
    cordonedBy: annotations?.[cordonedByAnnotation],
    conditions: (status?.conditions ?? [])
      .filter(({ type }) => type.startsWith(conditionPrefix))
      .map(({ type, status: state, reason, message, lastTransitionTime }) => ({
        ...{ type, status: state, reason, message, lastTransitionTime: lastTransitionTime ?? undefined },
      })),
  }),
  indexes: [['kubelet', ({ kubelet }: KnownNode) => [kubelet]]],
})

export interface KnownHost {
  readonly name: string
  readonly uid: string | undefined
  readonly names: HostResource['spec']['names']
  /** True if the operator planned an etcd member on the host. */
  readonly etcdMember: boolean
  readonly status: HostStatus
  /** Ids of requests to the host that have no result yet. */
  readonly openRequests: readonly string[]
}

/** Watches Host objects. They change with every heartbeat; use isHostChanged to ignore heartbeats. */
export const hostWatch = new WatchSpec({
  name: 'hosts',
  kind: hostKind,
  select: ({ metadata: { name, uid }, spec, status }): KnownHost => ({
    ...{ name, uid, names: spec.names, etcdMember: spec.etcdMember ?? false, status },
    openRequests: (spec.requests ?? []).flatMap((request) => {
      const id: unknown = Reflect.get(Object(request), 'id')
      const isOpen = typeof id === 'string' && !(status.results ?? []).some((result) => result.id === id)
      return isOpen ? [id] : []
    }),
  }),
})

/**
 * True if the operator planned an etcd member on the host and the agent has reported about this member. A
 * report from a host without a planned member is ignored, because it could delay snapshots and
 * defragmentation.
 */
export function isReportingMember({ etcdMember, status }: KnownHost): boolean {
  return etcdMember && status.etcd !== undefined
}

/** True if more than the heartbeat of a host has changed. */
export function isHostChanged(change: ObjectChange<KnownHost>): boolean {
  if (change.type !== 'modified') return true
  return serializeWithoutHeartbeat(change.object) !== serializeWithoutHeartbeat(change.before)
}

function serializeWithoutHeartbeat({
  names,
  etcdMember,
  openRequests,
  status: { heartbeat: _heartbeat, ...rest },
}: KnownHost): string {
  return JSON.stringify([names, etcdMember, openRequests, rest])
}

/** Builds the object reference for events about a host. */
export function toHostReference({ name, uid }: Pick<KnownHost, 'name' | 'uid'>): KubeObject {
  const { apiVersion, kind } = hostKind
  return { apiVersion, kind, metadata: { name, uid } }
}

/** RBAC rules for events about hosts and nodes, which are stored in the namespace `default`. */
export const eventRules: readonly ControllerRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'], namespace: 'default' },
]
