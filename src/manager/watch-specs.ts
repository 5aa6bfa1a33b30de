import { z } from 'zod'
import type { HostStatus } from '../contract/host-resource.ts'
import { type Host, hosts as hostKind } from '../kube/host-resource.ts'
import { type Kind, type KubeObject, kubeObject } from '../kube/object.ts'
import { Source } from '../kube/watch-spec.ts'
import type { Change } from '../kube/object-store.ts'
import type { Right } from './controller.ts'

const node = kubeObject.extend({
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
const nodeKind: Kind<z.infer<typeof node>> = { apiVersion: 'v1', kind: 'Node', schema: node }

/** Those that kubelets write have a time in them that is another one every few minutes: it is not kept. */
export interface KnownCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string | undefined
}

/** What is kept of a node: as little as all who look at it need, for there may be thousands. */
export interface KnownNode {
  readonly name: string
  readonly uid: string | undefined
  readonly kubelet: string
  readonly ready: string
  readonly unschedulable: boolean
  /** Who has cordoned it, where it was one of ours. */
  readonly cordonedBy: string | undefined
  /** Ours alone. */
  readonly conditions: readonly KnownCondition[]
}

/** What controllers write at nodes begins so. */
export const ownPrefix = 'Hyperkube'
/** Who has cordoned a node, so that nobody else's is taken away. */
export const cordonMark = 'hyperkube.dev/cordoned-by'

export const nodes = new Source({
  name: 'nodes',
  kind: nodeKind,
  select: ({ metadata: { name, uid, annotations }, spec, status }): KnownNode => ({
    name,
    uid,
    kubelet: status?.nodeInfo?.kubeletVersion ?? '',
    ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    unschedulable: spec?.unschedulable ?? false,
    cordonedBy: annotations?.[cordonMark],
    conditions: (status?.conditions ?? [])
      .filter(({ type }) => type.startsWith(ownPrefix))
      .map(({ type, status: state, reason, message, lastTransitionTime }) => ({
        ...{ type, status: state, reason, message, lastTransitionTime: lastTransitionTime ?? undefined },
      })),
  }),
  indexes: [['kubelet', ({ kubelet }: KnownNode) => [kubelet]]],
})

export interface KnownHost {
  readonly name: string
  readonly uid: string | undefined
  readonly names: Host['spec']['names']
  readonly status: HostStatus
  /** What was asked of it, and not answered yet: the ids. */
  readonly open: readonly string[]
}

/** What agents say of their hosts. It changes with every sign of life: who does not care for that asks `isNews`. */
export const hosts = new Source({
  name: 'hosts',
  kind: hostKind,
  select: ({ metadata: { name, uid }, spec, status }): KnownHost => ({
    ...{ name, uid, names: spec.names, status },
    open: (spec.requests ?? []).flatMap((request) => {
      const id: unknown = Reflect.get(Object(request), 'id')
      const isOpen = typeof id === 'string' && !(status.results ?? []).some((result) => result.id === id)
      return isOpen ? [id] : []
    }),
  }),
})

/** Whether more has happened to a host than that its agent still lives. */
export function isNews(change: Change<KnownHost>): boolean {
  if (change.type !== 'modified') return true
  return said(change.object) !== said(change.before)
}

function said({ names, open, status: { heartbeat: _heartbeat, ...rest } }: KnownHost): string {
  return JSON.stringify([names, open, rest])
}

/** For events about a host. */
export function hostObject({ name, uid }: Pick<KnownHost, 'name' | 'uid'>): KubeObject {
  const { apiVersion, kind } = hostKind
  return { apiVersion, kind, metadata: { name, uid } }
}

/** Events about hosts and nodes are in this namespace. */
export const eventRights: readonly Right[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'], namespace: 'default' },
]
