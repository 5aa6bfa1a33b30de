import { isDeepStrictEqual } from 'node:util'
import type { ClusterStatus } from '../../contract/cluster-status.ts'
import type { ManagedClusterStatus } from '../../fleet/cluster-resource.ts'
import { type DesiredDocument, readSignedDocument } from '../../fleet/desired-document.ts'
import {
  buildMemberReport,
  decideOffer,
  type MemberState,
  recordApplied,
  recordFailure,
  recordOffer,
} from '../../fleet/member-state.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { findObject } from '../../kube/read-objects.ts'
import type { KubeCallOptions } from '../../kube/request.ts'
import type { WorkResult } from '../../kube/work-queue.ts'
import { applyStatus } from '../../kube/write-objects.ts'
import { addonCheckIntervalMs } from '../controllers/addon-drift.ts'
import type { ApplyDocumentOptions } from './apply-document.ts'
import type { ManagementLink } from './member-access.ts'
import type { MemberStore } from './member-store.ts'
import { managedClusterKind } from './resources.ts'
import { memberHeartbeatMs } from './watch-specs.ts'

/**
 * Work of a managed cluster: `pull` reads what the management plane offers, `apply` applies the accepted
 * document, `report` writes the status. `apply` needs no management plane.
 */
export const memberTasks = ['pull', 'apply', 'report'] as const
export type MemberTask = (typeof memberTasks)[number]

export interface MemberDeps {
  readonly store: MemberStore
  /** Opens the management plane; undefined if the cluster has not joined one. */
  readonly connect: () => Promise<ManagementLink | undefined>
  readonly applyDocument: (document: DesiredDocument, options: ApplyDocumentOptions) => Promise<void>
  /** Waits until the ClusterStatus shows effects of a change. */
  readonly settle: () => Promise<void>
  readonly readStatus: () => ClusterStatus | undefined
  readonly enqueue: (task: MemberTask) => void
  readonly now: () => Date
  readonly log: (line: string) => void
  readonly timing?: Partial<MemberTiming>
}

/** Intervals in milliseconds. */
export interface MemberTiming {
  readonly heartbeat: number
  /**
   * Time until a report that another writer has changed is written again. Two clusters with one name would
   * otherwise overwrite each other all the time.
   */
  readonly rewrite: number
  /** Time until a cluster that has not joined checks again. */
  readonly joinCheck: number
}

const defaultTiming: MemberTiming = { heartbeat: memberHeartbeatMs, rewrite: 10_000, joinCheck: 60_000 }

/** The managed side of a fleet. Each task can be repeated at any time. */
export class FleetMember {
  readonly #deps: MemberDeps
  readonly #timing: MemberTiming
  /** The last report. Its heartbeat shows whether the management plane still has it. */
  #reported: ManagedClusterStatus | undefined

  constructor(deps: MemberDeps) {
    this.#deps = deps
    this.#timing = { ...defaultTiming, ...deps.timing }
  }

  async run(task: MemberTask): Promise<WorkResult> {
    if (task === 'apply') return this.#apply()
    const link = await this.#deps.connect()
    if (link === undefined) return { requeueAfter: this.#timing.joinCheck }
    return task === 'pull' ? this.#pull(link) : this.#report(link)
  }

  /** Accepts or refuses the offered document. The fence is stored before anything is applied. */
  async #pull(link: ManagementLink): Promise<WorkResult> {
    const { store, now, log, enqueue } = this.#deps
    const { spec } = await findOwnCluster(link)
    let before: MemberState | undefined
    const after = await store.update((state) => {
      before = state
      return recordOffer(state, spec, decideOffer(state, spec, link.trust), now())
    })
    // The watch triggers this task. The interval covers a watch that misses a change.
    const next = { requeueAfter: this.#timing.heartbeat }
    if (after === before) return next
    const [event] = after.events
    if (event !== undefined && event !== before?.events[0])
      log(
        `document ${event.generation} ${event.type}${event.message === undefined ? '' : `: ${event.message}`}`,
      )
    // A refusal changes nothing in the cluster. Otherwise offers could make it check all addons all the time.
    if (after.accepted?.generation !== before?.accepted?.generation) enqueue('apply')
    enqueue('report')
    return next
  }

  /** Applies the stored document, whether the management plane is reachable or not. */
  async #apply(): Promise<WorkResult> {
    const { store, connect, applyDocument, settle, now, enqueue } = this.#deps
    const { accepted, applied, failed, ownedAddons } = await store.read()
    const link = await connect()
    if (accepted === undefined || link === undefined) return { requeueAfter: addonCheckIntervalMs }
    const isNew = applied?.generation !== accepted.generation
    try {
      // The signature is verified again, because the document was stored in between.
      const document = readSignedDocument(accepted, link.trust)
      await applyDocument(document, { isNew, ownedAddons })
      if (isNew) await settle()
      if (isNew || failed?.generation === accepted.generation) {
        await store.update((state) => recordApplied(state, document, now()))
        enqueue('report')
      }
    } catch (error) {
      await store.update((state) => recordFailure(state, 'failed', accepted.generation, error, now()))
      enqueue('report')
      throw error
    }
    return { requeueAfter: addonCheckIntervalMs }
  }

  /**
   * Reports on change and at each heartbeat. A management plane that was restored from a snapshot has another
   * heartbeat than the last one that was sent, and gets a report at once.
   */
  async #report(link: ManagementLink): Promise<WorkResult> {
    const { store, readStatus, now } = this.#deps
    const observed = (await findOwnCluster(link)).status
    const report = buildMemberReport(await store.read(), readStatus())
    const { heartbeat: sentAt, ...sent } = this.#reported ?? {}
    if (sentAt !== undefined && isDeepStrictEqual(sent, report)) {
      const isCurrent = isDeepStrictEqual(observed, this.#reported)
      const age = now().getTime() - Date.parse(sentAt)
      const wait = (isCurrent ? this.#timing.heartbeat : this.#timing.rewrite) - age
      // A negative age means that the clock was set back.
      if (wait > 0 && age >= 0) return { requeueAfter: wait }
    }
    const time = now().toISOString()
    const { apiVersion, kind } = managedClusterKind
    const status = { ...report, heartbeat: time }
    const manifest = { apiVersion, kind, metadata: { name: link.name }, status }
    await applyStatus(link.client, manifest, { force: true, manager: 'hyperkube-fleet-member' })
    this.#reported = status
    await link.renewToken(now())
    return { requeueAfter: this.#timing.heartbeat }
  }
}

async function findOwnCluster({ client, name }: ManagementLink, options: KubeCallOptions = {}) {
  const object = await findObject(client, managedClusterKind, { name }, options)
  if (object !== undefined) return object
  throw new HyperkubeError('FLEET_NOT_JOINED', `the management plane has no Cluster ${name}`, {
    hint: 'on the machine with the key of the cluster: hyperkube fleet join',
  })
}
