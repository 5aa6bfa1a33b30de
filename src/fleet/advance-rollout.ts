import { isDeepStrictEqual } from 'node:util'
import type { ClusterLabels } from '../spec/inherit.ts'
import type { DocumentFailure } from './cluster-resource.ts'
import { decideNext } from './decide-next.ts'
import { type ClusterFailure, type ClusterHealth, resetClusters } from './fleet-run.ts'
import type { ManagedClusterRun, RolloutSpec, RolloutStatus } from './rollout-resource.ts'
import { toCheckedRun } from './run-rollout.ts'
import { planWaves } from './waves.ts'

/** What the management plane knows about a managed cluster. */
export interface ClusterReport {
  readonly name: string
  readonly labels: ClusterLabels
  /** Generation of the newest document. */
  readonly desired: number | undefined
  readonly permitted: { readonly generation: number; readonly rollout: string } | undefined
  readonly applied: number | undefined
  readonly failed: DocumentFailure | undefined
  /** `unknown` if the cluster does not report. */
  readonly health: ClusterHealth
}

export interface AdvanceInput {
  readonly spec: RolloutSpec
  readonly reports: ReadonlyMap<string, ClusterReport>
  /** Waves with an Approval. The first wave is 1. */
  readonly approvedWaves: ReadonlySet<number>
  readonly now: Date
}

export interface RolloutAdvance {
  /** The same object if nothing has changed. */
  readonly status: RolloutStatus
  /** Permissions that Cluster objects must contain and do not contain yet. */
  readonly permits: readonly { readonly cluster: string; readonly generation: number }[]
}

/**
 * Plans the waves of a new rollout, and the document of each cluster. Later changes of the set, its clusters or
 * their documents do not change them: a document of a later wave is as old as those that the first wave tests.
 */
export function startRollout(
  spec: RolloutSpec,
  members: readonly Pick<ClusterReport, 'name' | 'labels' | 'desired'>[],
  now: Date,
): RolloutStatus {
  const ordered = members.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const desired = new Map(ordered.map((report) => [report.name, report]))
  const at = now.toISOString()
  return {
    state: 'running',
    message: '',
    attempt: spec.attempt,
    startedAt: at,
    updatedAt: at,
    waves: planWaves(ordered, spec).map(({ title, clusters }) => ({ title, clusters: [...clusters] })),
    clusters: pinDocuments(
      Object.fromEntries(ordered.map(({ name }) => [name, { state: 'pending' }])),
      desired,
    ),
  }
}

/** Sets the generation of clusters that have not started to that of their newest document. */
function pinDocuments(
  clusters: RolloutStatus['clusters'],
  reports: ReadonlyMap<string, Pick<ClusterReport, 'desired'>>,
): RolloutStatus['clusters'] {
  return Object.fromEntries(
    Object.entries(clusters).map(([name, run]) => {
      const generation = reports.get(name)?.desired
      return [name, run.state !== 'pending' || generation === undefined ? run : { ...run, generation }]
    }),
  )
}

/**
 * Continues a rollout as far as the reports of the clusters allow. Pure and repeatable: after a crash, the
 * stored status and the same reports give the same result.
 */
export function advanceRollout(previous: RolloutStatus, input: AdvanceInput): RolloutAdvance {
  const resumed = resume(previous, input)
  if (resumed.state === 'stopped' || resumed.state === 'done') return { status: previous, permits: [] }
  const advanced = runSteps({ ...resumed, clusters: readProgress(resumed, input) }, input)
  const isChanged = !isDeepStrictEqual(advanced, previous)
  const status = isChanged ? { ...advanced, updatedAt: input.now.toISOString() } : previous
  return { status, permits: listMissingPermits(status, input) }
}

function resume(status: RolloutStatus, { spec: { attempt }, reports }: AdvanceInput): RolloutStatus {
  if (attempt <= status.attempt) return status
  const clusters = pinDocuments(resetClusters(status.clusters), reports)
  return { ...status, attempt, state: 'running', message: '', clusters }
}

/** Updates the clusters that are being changed from their reports. */
function readProgress(status: RolloutStatus, input: AdvanceInput): RolloutStatus['clusters'] {
  return Object.fromEntries(
    Object.entries(status.clusters).map(([name, run]) => [
      name,
      run.state === 'running' ? readClusterProgress(run, input.reports.get(name), input) : run,
    ]),
  )
}

function readClusterProgress(
  run: ManagedClusterRun,
  report: ClusterReport | undefined,
  { spec, now }: AdvanceInput,
): ManagedClusterRun {
  const endedAt = now.toISOString()
  const fail = (failure: ClusterFailure): ManagedClusterRun => ({ ...run, state: 'failed', endedAt, failure })
  if (report === undefined) return fail(notJoined)
  if (report.applied === run.generation) return { ...run, state: 'changed', endedAt }
  if (report.failed !== undefined && report.failed.generation === run.generation) {
    const { code, message, hint } = report.failed
    return fail({ code, message: shorten(message), ...(hint === undefined ? {} : { hint: shorten(hint) }) })
  }
  if (isReplaced(run, report)) return fail(replaced)
  const startedAt = Date.parse(run.startedAt ?? endedAt)
  return now.getTime() - startedAt > spec.timeoutSeconds * 1000 ? fail(timedOut) : run
}

/** True if a newer document was published. A lower number only means that the report is older than the rollout. */
function isReplaced(run: ManagedClusterRun | undefined, { desired = 0 }: ClusterReport): boolean {
  return run?.generation !== undefined && desired > run.generation
}

/** The status of a Rollout is one object for all clusters. The whole text is in the Cluster object. */
function shorten(text: string): string {
  return text.length > maxFailureText ? `${text.slice(0, maxFailureText)}…` : text
}
const maxFailureText = 250

const notJoined: ClusterFailure = {
  code: 'FLEET_NOT_JOINED',
  message: 'the management plane has no Cluster object of this name',
  hint: 'hyperkube fleet join',
}
const noDocument: ClusterFailure = {
  code: 'FLEET_DOCUMENT_MISSING',
  message: 'the cluster has no document to apply',
  hint: 'hyperkube fleet publish',
}
const replaced: ClusterFailure = {
  code: 'FLEET_DOCUMENT_REPLACED',
  message: 'another document was published after the rollout began',
  hint: 'to test the new documents in all waves, create a new Rollout; to continue, raise spec.attempt',
}
const timedOut: ClusterFailure = {
  code: 'FLEET_CLUSTER_SILENT',
  message: 'the cluster did not apply its document in time, or does not report',
  hint: 'in the directory of its cluster.yml: hyperkube doctor',
}

function runSteps(initial: RolloutStatus, input: AdvanceInput): RolloutStatus {
  const { spec, reports, now } = input
  const clusters = { ...initial.clusters }
  const { waves } = initial
  let { gatePassedAt } = initial
  const end = (state: RolloutStatus['state'], message: string): RolloutStatus => ({
    ...{ ...initial, state, message, clusters },
    ...(gatePassedAt === undefined ? {} : { gatePassedAt }),
  })
  for (;;) {
    const next = decideNext({ waves, clusters, parallel: spec.parallel, maxFailed: spec.maxFailed })
    if (next.type === 'end') return end(next.state, describeEnd(clusters))
    if (next.type === 'wait') return end('running', describeWave(waves, clusters))
    if (next.type === 'gate') {
      for (const name of next.clusters) clusters[name] = checkGate(clusters[name], reports.get(name), input)
      if (next.clusters.some((name) => clusters[name]?.state === 'changed'))
        return end('running', `wave ${next.wave + 1} of ${waves.length}: health gate`)
      gatePassedAt = now.toISOString()
      continue
    }
    const reason = explainWait(next.wave, initial, gatePassedAt, input)
    if (reason !== undefined) return end('waiting', reason)
    clusters[next.cluster] = startCluster(clusters[next.cluster], reports.get(next.cluster), now)
  }
}

/** Returns why a wave must not start yet; undefined if it may. */
function explainWait(
  wave: number,
  { waves, clusters }: RolloutStatus,
  gatePassedAt: string | undefined,
  { spec, approvedWaves, now }: AdvanceInput,
): string | undefined {
  const title = `wave ${wave + 1} of ${waves.length}`
  if (spec.approval === 'each-wave' && !approvedWaves.has(wave + 1)) return `${title} needs an Approval`
  const hasStarted = waves[wave]?.clusters.some((name) => clusters[name]?.startedAt !== undefined) ?? false
  if (hasStarted || gatePassedAt === undefined) return undefined
  const pauseEnd = Date.parse(gatePassedAt) + spec.pauseSeconds * 1000
  return now.getTime() < pauseEnd ? `${title} starts after the pause` : undefined
}

function startCluster(
  run: ManagedClusterRun | undefined,
  report: ClusterReport | undefined,
  now: Date,
): ManagedClusterRun {
  const startedAt = now.toISOString()
  const before = run?.before ?? report?.health ?? 'unknown'
  const fail = (failure: ClusterFailure): ManagedClusterRun => ({
    ...{ state: 'failed', before, startedAt, endedAt: startedAt, failure },
  })
  if (report === undefined) return fail(notJoined)
  if (report.desired === undefined) return fail(noDocument)
  if (isReplaced(run, report)) return fail(replaced)
  const generation = run?.generation ?? report.desired
  if (report.applied === generation)
    return { state: 'changed', before, startedAt, endedAt: startedAt, changes: 0, generation }
  return { state: 'running', before, startedAt, generation }
}

/** Checks the health of a changed cluster. It stays `changed` while it may still recover. */
function checkGate(
  run: ManagedClusterRun | undefined,
  report: ClusterReport | undefined,
  { spec, now }: AdvanceInput,
): ManagedClusterRun {
  const known: ManagedClusterRun = run ?? { state: 'pending' }
  const checked = { ...known, ...toCheckedRun(known.before ?? 'unknown', report?.health ?? 'unknown') }
  const deadline = Date.parse(known.endedAt ?? now.toISOString()) + spec.settleSeconds * 1000
  return checked.state === 'degraded' && now.getTime() < deadline ? known : checked
}

function listMissingPermits(
  { clusters }: RolloutStatus,
  { reports }: AdvanceInput,
): RolloutAdvance['permits'] {
  return Object.entries(clusters).flatMap(([cluster, { state, generation }]) => {
    if (state !== 'running' || generation === undefined) return []
    return reports.get(cluster)?.permitted?.generation === generation ? [] : [{ cluster, generation }]
  })
}

function describeWave(waves: RolloutStatus['waves'], clusters: RolloutStatus['clusters']): string {
  const wave = waves.findIndex((one) => one.clusters.some((name) => clusters[name]?.state === 'running'))
  return `wave ${wave + 1} of ${waves.length}`
}

function describeEnd(clusters: RolloutStatus['clusters']): string {
  const failed = Object.entries(clusters).flatMap(([name, { failure }]) =>
    failure === undefined ? [] : [`${name}: ${failure.code}: ${failure.message}`],
  )
  const [first] = failed
  if (first === undefined) return `${Object.keys(clusters).length} clusters are updated`
  return failed.length === 1 ? first : `${first}; and ${failed.length - 1} more`
}
