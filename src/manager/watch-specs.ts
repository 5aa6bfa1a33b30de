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

/** A node condition without lastHeartbeatTime, which kubelets update every few minutes. */
export interface KnownCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string | undefined
}

/** The fields of a node that controllers need. Few, because there may be thousands of nodes. */
export interface KnownNode {
  readonly name: string
  readonly uid: string | undefined
  readonly kubelet: string
  readonly ready: string
  readonly unschedulable: boolean
  /** The hyperkube controller that cordoned it, if one did. */
  readonly cordonedBy: string | undefined
  /** Only conditions of hyperkube. */
  readonly conditions: readonly KnownCondition[]
}

/** Prefix of all node conditions that controllers write. */
export const conditionPrefix = 'Hyperkube'
/** Names the controller that cordoned a node, so that cordons of others are left alone. */
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
  readonly status: HostStatus
  /** Ids of requests without a result. */
  readonly openRequests: readonly string[]
}

/** Hosts as their agents report them. They change with every heartbeat; use isHostChanged to ignore those. */
export const hostWatch = new WatchSpec({
  name: 'hosts',
  kind: hostKind,
  select: ({ metadata: { name, uid }, spec, status }): KnownHost => ({
    ...{ name, uid, names: spec.names, status },
    openRequests: (spec.requests ?? []).flatMap((request) => {
      const id: unknown = Reflect.get(Object(request), 'id')
      const isOpen = typeof id === 'string' && !(status.results ?? []).some((result) => result.id === id)
      return isOpen ? [id] : []
    }),
  }),
})

/** True if more than the heartbeat has changed. */
export function isHostChanged(change: ObjectChange<KnownHost>): boolean {
  if (change.type !== 'modified') return true
  return serializeWithoutHeartbeat(change.object) !== serializeWithoutHeartbeat(change.before)
}

function serializeWithoutHeartbeat({
  names,
  openRequests,
  status: { heartbeat: _heartbeat, ...rest },
}: KnownHost): string {
  return JSON.stringify([names, openRequests, rest])
}

/** The object reference for events about a host. */
export function toHostReference({ name, uid }: Pick<KnownHost, 'name' | 'uid'>): KubeObject {
  const { apiVersion, kind } = hostKind
  return { apiVersion, kind, metadata: { name, uid } }
}

/** Events about hosts and nodes are in the default namespace. */
export const eventRules: readonly ControllerRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'], namespace: 'default' },
]
