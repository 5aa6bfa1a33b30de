import { createReadStream } from 'node:fs'
import type { OpenBundle } from '../../bundle/open.ts'
import type { EtcdRestoreId } from '../../contract/etcd-restore.ts'
import { uploadedFilePath } from '../../contract/host-paths.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Claim } from '../../contract/request.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { formatNames } from '../../kit/text.ts'
import { signHostCertificates } from '../agents/certificates.ts'
import { type EmitEvent, reportStep } from '../agents/event-stream.ts'
import { applyPlanThrough, runOnAgent } from '../agents/run-on-agent.ts'
import type { Session } from '../agents/session.ts'
import { findUploads, uploadToHost } from '../agents/upload-artifacts.ts'
import { type ClusterInputs, collectSecrets } from '../inputs/cluster-inputs.ts'
import { componentsToStop } from './restore-ops.ts'

/** Local archive file with the etcd data of one member. */
export interface RestoreArchive {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

export interface RestoreSpec {
  readonly restore: EtcdRestoreId
  /** Host names of all etcd members. */
  readonly members: readonly string[]
  /** Archives by host name, for members that did not receive their data in an earlier run. */
  readonly archives: ReadonlyMap<string, RestoreArchive>
  /** Members on which etcd is not installed yet. */
  readonly newMembers: readonly NewEtcdMember[]
  /**
   * Ids of abandoned restores, by host name. These hosts are no longer etcd members but still store the state
   * of such a restore.
   */
  readonly staleRestores: ReadonlyMap<string, string>
}

export interface NewEtcdMember {
  readonly plan: NodePlan
  /** Ops of the complete plan of the host. */
  readonly ops: readonly Op[]
}

export interface EtcdRestoreOptions {
  readonly claim: Claim
  /** Air-gap bundle with the files for hosts that cannot download them. */
  readonly bundle?: OpenBundle | undefined
  readonly emit: EmitEvent
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Replaces the data of every etcd member. Steps that can fail without harm come before any component stops.
 * Kubelets, controllers and API servers stop before etcd. The following `up` starts all components again.
 */
export async function restoreEtcd(
  inputs: ClusterInputs,
  { restore, members, archives, newMembers, staleRestores }: RestoreSpec,
  sessions: ReadonlyMap<string, Session>,
  options: EtcdRestoreOptions,
): Promise<void> {
  const { claim, emit, signal } = options
  const linuxHosts = inputs.cluster.spec.hosts.filter(({ os, name }) => os === 'linux' && sessions.has(name))
  const receivers = [...archives.keys()]
  const stop = (components: readonly string[], immediately: boolean) => async (session: Session) =>
    runOnAgent(session, emit, { type: 'stop-services', claim, components: [...components], immediately })
  const steps: readonly RestoreStep[] = [
    {
      step: 'found',
      title: 'install etcd without data',
      hosts: newMembers.map(({ plan }) => plan.host),
      work: async (session) => prepareMember(inputs, newMembers, session, options),
    },
    {
      step: 'bring',
      title: `upload data to ${formatNames(receivers)}`,
      hosts: receivers,
      work: async (session) => uploadData(session, archives.get(session.host), options),
    },
    {
      step: 'stop',
      title: 'stop kubelets, controllers and API servers; pods keep running',
      hosts: linuxHosts.map(({ name }) => name),
      // Components are killed: their current work belongs to the discarded state, and an API server without
      // etcd takes minutes to stop gracefully.
      work: stop(componentsToStop, true),
    },
    { step: 'stop-etcd', title: 'stop etcd', hosts: members, work: stop(['etcd'], false) },
    {
      step: 'restore-data',
      title: `restore the data on ${formatNames(receivers)}`,
      hosts: receivers,
      work: async (session) => {
        const { sha256 = '' } = archives.get(session.host) ?? {}
        await runOnAgent(session, emit, { type: 'restore-etcd-data', claim, restore, sha256 })
      },
    },
    {
      step: 'end',
      title: 'finish the restore',
      hosts: [...members, ...staleRestores.keys()],
      work: async (session) => {
        const id = staleRestores.get(session.host) ?? restore.id
        await session.request({ type: 'end-restore', claim, id }, 'restore-ended')
      },
    },
  ]
  const plannedSteps = steps.filter(({ hosts }) => hosts.length > 0)
  emit({
    type: 'steps-planned',
    steps: plannedSteps.map(({ step, title, hosts }) => ({ step, title, hosts: [...hosts] })),
  })
  for (const { step, hosts, work } of plannedSteps) {
    signal.throwIfAborted()
    emit({ type: 'step-started', step })
    await reportStep(options, { step }, async () => runOnHosts(step, hosts, sessions, work, options))
  }
}

interface RestoreStep {
  readonly step: string
  readonly title: string
  readonly hosts: readonly string[]
  readonly work: (session: Session) => Promise<void>
}

async function runOnHosts(
  step: string,
  hosts: readonly string[],
  sessions: ReadonlyMap<string, Session>,
  work: RestoreStep['work'],
  options: EtcdRestoreOptions,
): Promise<void> {
  await settleAll(
    hosts.flatMap((host) => {
      const session = sessions.get(host)
      if (session === undefined) return []
      options.emit({ type: 'step-started', step }, { host })
      return [reportStep(options, { step, host }, async () => work(session))]
    }),
  )
}

/**
 * Installs etcd on a new member without its service. If etcd started without data, it would bootstrap an
 * empty cluster.
 */
async function prepareMember(
  inputs: ClusterInputs,
  newMembers: readonly NewEtcdMember[],
  session: Session,
  options: EtcdRestoreOptions,
): Promise<void> {
  const member = newMembers.find((one) => one.plan.host === session.host)
  if (member === undefined) return
  const { claim, bundle, emit, now } = options
  const plan = withoutEtcdService(member.plan)
  if (bundle !== undefined) await uploadToHost(session, findUploads(bundle, plan, member.ops), options)
  const sessions = new Map([[session.host, session]])
  const certificates = await signHostCertificates(inputs.identity, [plan], sessions, claim, now())
  const delivery = {
    plan,
    claim,
    secrets: collectSecrets(inputs),
    certificates: certificates.get(session.host) ?? {},
  }
  await applyPlanThrough(session, delivery, 'etcd', emit)
}

function withoutEtcdService(plan: NodePlan): NodePlan {
  const components = plan.components.map((component) => {
    if (component.name !== 'etcd') return component
    const { service: _, ...rest } = component
    return { ...rest, probes: [] }
  })
  return { ...plan, components }
}

async function uploadData(
  session: Session,
  archive: RestoreArchive | undefined,
  options: EtcdRestoreOptions,
): Promise<void> {
  if (archive === undefined) return
  const { path, size, sha256 } = archive
  const upload = { path: uploadedFilePath(sha256), size, sha256, bytes: () => createReadStream(path) }
  await uploadToHost(session, [upload], options)
}
