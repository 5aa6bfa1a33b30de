import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isWorse } from '../../fleet/decide-next.ts'
import { type ClusterHealth, type FleetCommand, type FleetRun, resumeRun } from '../../fleet/fleet-run.ts'
import { type ChangeResult, type RolloutDeps, runRollout } from '../../fleet/run-rollout.ts'
import { planWaves } from '../../fleet/waves.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatCount, joinNames } from '../../kit/text.ts'
import type { FleetCluster } from '../../workspace/fleet-clusters.ts'
import { formatHolder } from '../../workspace/lock-holder.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { confirmChanges, exitCodeByConfirmation } from '../command/confirm.ts'
import { printResult } from '../command/print.ts'
import { type CommandOutcome, readDisplayFlags, runWithProgress } from '../run/run-with-progress.ts'
import { buildClusterOptions } from './cluster-context.ts'
import { type ClusterWork, runClusterWork } from './cluster-work.ts'
import { type RolloutFlags, rolloutFlags } from './fleet-flags.ts'
import { formatFleetPlan, planFleet, printPlans } from './fleet-plan.ts'
import { formatRunResult, formatWaves } from './fleet-run-text.ts'
import { observeFleetCluster } from './observe-fleet-cluster.ts'
import { createRolloutProgress, type RolloutProgress } from './rollout-progress.ts'
import { openRunStore, requireInactive } from './run-store.ts'
import { loadSelectedFleet, requireValidClusters, type SelectedFleet, shareReleases } from './select-fleet.ts'

export interface FleetChange {
  readonly command: FleetCommand
  /** Kubernetes version of an upgrade. */
  readonly to?: string
  readonly work: ClusterWork
  /** False if --dry-run and the preview show only the waves. */
  readonly canPlan: boolean
}

const defaultTimeoutMs = 2 * 3_600_000
const observeTimeoutMs = 30_000
/** How long a changed cluster may take until it is as healthy as before. */
const settleTimeoutMs = 180_000
const settleIntervalMs = 5000

/** Runs a command over the selected clusters in waves: load, plan the waves, preview, confirm, execute. */
export async function rollOut(
  ownContext: CommandContext,
  options: Invocation['options'],
  change: FleetChange,
): Promise<ExitCode> {
  const context = shareReleases(ownContext)
  const flags = rolloutFlags.parse(options)
  const fleet = await loadSelectedFleet(context, options)
  if (fleet === undefined || !requireValidClusters(context, fleet.selected)) return exitCodes.failure
  const store = openRunStore(context, fleet.fleet.metadata.name, change.command)
  const last = await store.load()
  if (last !== undefined && !flags.dryRun) requireInactive(context, last, store.path)
  const run = flags.resume
    ? resumeLast(context, fleet, change, last)
    : createRun(context, fleet, change, flags)
  if (!flags.resume && !flags.restart && !flags.dryRun) requireFinished(change, last)
  context.stderr.write(formatWaves(run))
  if (flags.dryRun && !change.canPlan) return exitCodes.changesPending
  if (flags.dryRun)
    return printPlans(context, options, fleet, await planFleet(context, options, fleet, flags, change.work))
  if (options.yes !== true) {
    if (change.canPlan && !flags.resume) await preview(context, options, fleet, flags, change)
    const confirmation = await confirmChanges(context, options, flags.progress !== 'json')
    if (confirmation !== 'confirmed') return exitCodeByConfirmation[confirmation]
  }
  await store.save(run)
  const ended = await executeRun(context, options, fleet, { run, change, flags, save: store.save })
  printResult(context.stdout, options.output, ended.run, () =>
    formatRunResult(ended.run, formatResumeCommand(options, change), context.paint),
  )
  return ended.code
}

function createRun(
  { now, operator }: CommandContext,
  { fleet, selected }: SelectedFleet,
  { command, to }: FleetChange,
  { waves, parallel, maxFailed, pause }: RolloutFlags,
): FleetRun {
  const { rollout } = fleet.spec
  const time = now().toISOString()
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'FleetRun',
    id: randomUUID(),
    fleet: fleet.metadata.name,
    command,
    ...(to === undefined ? {} : { to }),
    holder: formatHolder(operator, process.pid),
    state: 'running',
    startedAt: time,
    updatedAt: time,
    waves: planWaves(selected, { ...rollout, waves: waves ?? rollout.waves }).map((wave) => ({
      ...wave,
      clusters: [...wave.clusters],
    })),
    parallel: parallel ?? rollout.parallel,
    maxFailed: maxFailed ?? rollout.maxFailed,
    pauseMs: pause ?? rollout.pause,
    clusters: Object.fromEntries(selected.map(({ name }) => [name, { state: 'pending' }])),
  }
}

/** Continues the last run with its own waves. All its clusters must still be in the fleet. */
function resumeLast(
  { operator }: CommandContext,
  { clusters }: SelectedFleet,
  { command, to }: FleetChange,
  last: FleetRun | undefined,
): FleetRun {
  if (last === undefined || last.state === 'done')
    throw new HyperkubeError('FLEET_NO_RUN', `there is no unfinished run of fleet ${command}`, {
      hint: `to begin one: hyperkube fleet ${command}`,
    })
  if (to !== undefined && last.to !== to)
    throw new HyperkubeError('FLEET_NO_RUN', `the unfinished run upgrades to ${last.to}, not to ${to}`, {
      hint: `hyperkube fleet upgrade --to ${last.to} --resume`,
    })
  const names = new Set(clusters.map(({ name }) => name))
  const missing = Object.keys(last.clusters).filter((name) => !names.has(name))
  if (missing.length > 0)
    throw new HyperkubeError(
      'FLEET_NO_RUN',
      `clusters of the run are not in the fleet: ${joinNames(missing)}`,
      {
        hint: `to begin again with the clusters of fleet.yml: hyperkube fleet ${command} --restart`,
      },
    )
  return resumeRun(last, formatHolder(operator, process.pid))
}

/** Throws if the last run has not ended, because a new run would begin again with the canaries. */
function requireFinished({ command }: FleetChange, last: FleetRun | undefined): void {
  if (last === undefined || last.state === 'done') return
  const done = Object.values(last.clusters).filter(({ state }) => state === 'done').length
  const message = `the last run has changed ${done} of ${formatCount(Object.keys(last.clusters).length, 'cluster')} and is not finished`
  throw new HyperkubeError('FLEET_RUN_UNFINISHED', message, {
    hint: `to continue it: hyperkube fleet ${command} --resume; to begin again: hyperkube fleet ${command} --restart`,
  })
}

async function preview(
  context: CommandContext,
  options: Invocation['options'],
  fleet: SelectedFleet,
  flags: RolloutFlags,
  { work }: FleetChange,
): Promise<void> {
  const plans = await planFleet(context, options, fleet, flags, work)
  context.stderr.write(formatFleetPlan(fleet.fleet.metadata.name, plans, false, context.paintProgress))
}

interface RunExecution {
  readonly run: FleetRun
  readonly change: FleetChange
  readonly flags: RolloutFlags
  readonly save: (run: FleetRun) => Promise<void>
}

/** Executes a run. All events of all clusters are in one log. */
async function executeRun(
  context: CommandContext,
  options: Invocation['options'],
  fleet: SelectedFleet,
  { run: initial, change, flags, save }: RunExecution,
): Promise<{ readonly run: FleetRun; readonly code: ExitCode }> {
  let run = initial
  const settings = {
    ...readDisplayFlags(options),
    command: `fleet ${change.command}`,
    // A cluster name cannot contain a dot, so the logs of a fleet are never mixed with those of a cluster.
    cluster: `${initial.fleet}.fleet`,
    progress: flags.progress,
  }
  const resumable = { ...context, typedCommand: formatResumeCommand(options, change) }
  const { code } = await runWithProgress(resumable, settings, async (reporter): Promise<CommandOutcome> => {
    const progress = createRolloutProgress(initial, reporter, context.now)
    run = await runRollout(initial, createRolloutDeps(context, fleet, { change, flags, progress, save }))
    return toOutcome(run)
  })
  return { run, code }
}

function toOutcome({ state }: FleetRun): CommandOutcome {
  switch (state) {
    case 'done':
      return { code: exitCodes.ok, result: { outcome: 'done' } }
    case 'interrupted':
      return { code: exitCodes.interrupted, result: { outcome: 'interrupted' } }
    default: {
      const failure = { code: 'FLEET_STOPPED', message: 'clusters failed, so no further cluster was changed' }
      return { code: exitCodes.failure, result: { outcome: 'failed', failure } }
    }
  }
}

function formatResumeCommand({ file }: Invocation['options'], { command, to }: FleetChange): string {
  const target = to === undefined ? '' : ` --to ${to}`
  return `fleet ${command}${target} --resume${file === 'fleet.yml' ? '' : ` -f ${file}`}`
}

function createRolloutDeps(
  context: CommandContext,
  { clusters }: SelectedFleet,
  { change, flags, progress, save }: Omit<RunExecution, 'run'> & { readonly progress: RolloutProgress },
): RolloutDeps {
  const { signal, now } = context
  const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]))
  const find = (name: string): FleetCluster => {
    const cluster = byName.get(name)
    if (cluster === undefined) throw new Error(`${name} is not in the fleet`)
    return cluster
  }
  const observe = async (name: string): Promise<ClusterHealth> =>
    (await observeFleetCluster(context, find(name), observeTimeoutMs)).health
  return {
    observe,
    async change(name): Promise<ChangeResult> {
      const { code, failure, changes } = await runClusterWork(context, find(name), change.work, {
        command: change.command,
        options: buildClusterOptions(find(name), flags),
        timeoutMs: flags.clusterTimeout ?? defaultTimeoutMs,
        onEvent: (event) => progress.onClusterEvent(name, event),
      })
      if (code === exitCodes.interrupted && signal.aborted) return { outcome: 'interrupted' }
      return failure === undefined ? { outcome: 'changed', changes } : { outcome: 'failed', failure }
    },
    async settle(name, before) {
      const endsAt = performance.now() + settleTimeoutMs
      for (;;) {
        const health = await observe(name)
        if (!isWorse(before, health) || performance.now() > endsAt) return health
        await sleep(settleIntervalMs, undefined, { signal })
      }
    },
    save,
    // An interrupt ends the pause, and the rollout then ends by itself.
    pause: async (milliseconds) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
    report: progress.report,
    now,
    signal,
  }
}
