import { createReadStream } from 'node:fs'
import type { OpenBundle } from '../../bundle/open.ts'
import { deliveredFile } from '../../contract/uploads.ts'
import type { EtcdRestoreId } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Claim } from '../../contract/request.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { list } from '../../rollout/format-names.ts'
import { applyThrough } from '../apply-plan.ts'
import { certify } from '../certificates.ts'
import { deliver, parcelsFor } from '../upload-artifacts.ts'
import { inRun } from '../run-on-agent.ts'
import type { Session } from '../session.ts'
import { type Tell, toldStep } from '../event-stream.ts'
import { secretsOf, type Wish } from '../build-proposal.ts'
import { actors } from './restore-ops.ts'

/** What a member gets. */
export interface MemberArchive {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

export interface RestoreWish {
  readonly restore: EtcdRestoreId
  /** Names of all members. */
  readonly members: readonly string[]
  /** By name of host, of those that have not got it in a run before. */
  readonly archives: ReadonlyMap<string, MemberArchive>
  /** Members that have no etcd yet. */
  readonly fresh: readonly FreshMember[]
  /** Hosts that are no members any more, and remember a restore that nobody will end: its id, by name. */
  readonly stale: ReadonlyMap<string, string>
}

export interface FreshMember {
  readonly plan: NodePlan
  /** What is to be done there. */
  readonly ops: readonly Op[]
}

export interface RestoreOptions {
  readonly claim: Claim
  /** Where files come from, for hosts that have no way to them. */
  readonly bundle?: OpenBundle | undefined
  readonly tell: Tell
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Gives every member of etcd other data. All that can fail without harm comes before anything stops; kubelets, controllers
 * and API servers stop before etcd does; and nothing starts: that is for whoever brings the cluster up afterwards.
 */
export async function restoreEtcd(
  wish: Wish,
  { restore, members, archives, fresh, stale }: RestoreWish,
  sessions: ReadonlyMap<string, Session>,
  options: RestoreOptions,
): Promise<void> {
  const { claim, tell, signal } = options
  const linux = wish.cluster.spec.hosts.filter(({ os, name }) => os === 'linux' && sessions.has(name))
  const receivers = [...archives.keys()]
  const stop = (components: readonly string[], atOnce: boolean) => async (session: Session) =>
    inRun(session, tell, { type: 'stop-services', claim, components: [...components], atOnce })
  const turns: readonly Turn[] = [
    {
      step: 'found',
      title: 'what etcd needs, without its data',
      hosts: fresh.map(({ plan }) => plan.host),
      work: async (session) => found(wish, fresh, session, options),
    },
    {
      step: 'bring',
      title: `data for ${list(receivers)}`,
      hosts: receivers,
      work: async (session) => bring(session, archives.get(session.host), options),
    },
    {
      step: 'stop',
      title: 'stop kubelets, controllers and API servers; pods go on',
      hosts: linux.map(({ name }) => name),
      // What they are at is of a cluster that is no more; and without etcd an API server takes minutes to end well.
      work: stop(actors, true),
    },
    { step: 'stop-etcd', title: 'stop etcd', hosts: members, work: stop(['etcd'], false) },
    {
      step: 'place',
      title: `put the data in its place on ${list(receivers)}`,
      hosts: receivers,
      work: async (session) => {
        const { sha256 = '' } = archives.get(session.host) ?? {}
        await inRun(session, tell, { type: 'place-etcd', claim, restore, sha256 })
      },
    },
    {
      step: 'end',
      title: 'all members have it',
      hosts: [...members, ...stale.keys()],
      work: async (session) => {
        const id = stale.get(session.host) ?? restore.id
        await session.ask({ type: 'end-restore', claim, id }, 'restore-ended')
      },
    },
  ]
  const planned = turns.filter(({ hosts }) => hosts.length > 0)
  tell({
    type: 'steps-planned',
    steps: planned.map(({ step, title, hosts }) => ({ step, title, hosts: [...hosts] })),
  })
  for (const { step, hosts, work } of planned) {
    signal.throwIfAborted()
    tell({ type: 'step-started', step })
    await toldStep(options, { step }, async () => onEach(step, hosts, sessions, work, options))
  }
}

interface Turn {
  readonly step: string
  readonly title: string
  readonly hosts: readonly string[]
  readonly work: (session: Session) => Promise<void>
}

async function onEach(
  step: string,
  hosts: readonly string[],
  sessions: ReadonlyMap<string, Session>,
  work: Turn['work'],
  options: RestoreOptions,
): Promise<void> {
  await settleAll(
    hosts.flatMap((host) => {
      const session = sessions.get(host)
      if (session === undefined) return []
      options.tell({ type: 'step-started', step }, { host })
      return [toldStep(options, { step, host }, async () => work(session))]
    }),
  )
}

/** A host that never had an etcd gets all of it but its service: started without data it would begin with nothing. */
async function found(
  wish: Wish,
  fresh: readonly FreshMember[],
  session: Session,
  options: RestoreOptions,
): Promise<void> {
  const member = fresh.find((one) => one.plan.host === session.host)
  if (member === undefined) return
  const { claim, bundle, tell, now } = options
  const plan = withoutEtcdService(member.plan)
  if (bundle !== undefined) await deliver(session, parcelsFor(bundle, plan, member.ops), options)
  const sessions = new Map([[session.host, session]])
  const certificates = await certify(wish.identity, [plan], sessions, claim, now())
  const delivery = {
    plan,
    claim,
    secrets: secretsOf(wish),
    certificates: certificates.get(session.host) ?? {},
  }
  await applyThrough(session, delivery, 'etcd', tell)
}

function withoutEtcdService(plan: NodePlan): NodePlan {
  const components = plan.components.map((component) => {
    if (component.name !== 'etcd') return component
    const { service: _, ...rest } = component
    return { ...rest, probes: [] }
  })
  return { ...plan, components }
}

async function bring(
  session: Session,
  archive: MemberArchive | undefined,
  options: RestoreOptions,
): Promise<void> {
  if (archive === undefined) return
  const { path, size, sha256 } = archive
  const parcel = { path: deliveredFile(sha256), size, sha256, bytes: () => createReadStream(path) }
  await deliver(session, [parcel], options)
}
