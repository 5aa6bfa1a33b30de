import type { Ledger } from '../../contract/ledger.ts'
import type { Op } from '../../contract/op.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { basename, dirname, isBelow, join } from '../host/host-path.ts'
import type { Host, WindowsHost } from '../host/host.ts'
import { formatInUse } from '../apply/apply-op.ts'
import { handlersFor } from '../resources/handlers-by-os.ts'
import { findResource, ledgerPath, readLedger, withoutResource } from '../records/ledger.ts'
import { deleteTemporaryFiles } from '../apply/orphans.ts'
import { rollbackImpossible } from '../resources/predecessor.ts'
import { removeTreeUnlessInUse } from '../resources/replace-files.ts'
import { removeScmService } from '../resources/scm-service.ts'
import { unitFile } from '../resources/systemd-service.ts'
import { journalRun, type OpOutcome, type Run, runOp } from '../records/run-op.ts'
import { listLinuxLeftoverSteps } from './linux-leftover-steps.ts'
import type { LeftoverStep } from './leftovers.ts'
import { type HostRunOptions, openRemoval, stopOp } from './stop-services.ts'
import { listWindowsLeftoverSteps } from './windows-leftover-steps.ts'

export interface ResetResult {
  readonly report: readonly ResetStep[]
  /**
   * Stops the agent's own service; undefined if the agent does not run as a service. Must be called after all
   * events were emitted.
   */
  readonly exitHook: (() => Promise<void>) | undefined
}

export interface ResetStep {
  readonly step: string
  /** Names of what this step found and removed. */
  readonly removed: readonly string[]
  /** Paths that are still in use and could not be removed. */
  readonly inUse?: readonly string[]
}

/**
 * Removes everything of hyperkube from a host, without a plan, and keeps everything else. Containers and data of
 * the cluster are removed too. The ledger is removed last, so that an interrupted reset can start again.
 */
export async function runReset(options: HostRunOptions): Promise<ResetResult> {
  return removeHyperkube(options, resetLedger)
}

/**
 * Returns a host to what ran there before hyperkube. Containers and data of the cluster stay, because the
 * programs of the other tool continue with them.
 */
export async function runReturn(options: HostRunOptions): Promise<ResetResult> {
  return removeHyperkube(options, returnByLedger)
}

async function removeHyperkube(
  options: HostRunOptions,
  removeResources: (options: HostRunOptions, ledger: Ledger) => Promise<readonly ResetStep[]>,
): Promise<ResetResult> {
  const { host, signal } = options
  const ledger = await readLedger(host)
  const { services } = host
  const unit = agentServiceName(host)
  const isService = (await services.show(unit)).pid === host.release.pid
  const report = ledger === undefined ? [] : await removeResources(options, ledger)
  signal.throwIfAborted()
  const inUse = await removeOwnFiles(host, ledger)
  if (inUse.length > 0) options.emit({ type: 'log', lines: inUse.map(formatInUse) })
  return {
    report: inUse.length === 0 ? report : [...report, { step: 'own', removed: [], inUse }],
    exitHook: isService ? async () => services.stop(unit) : undefined,
  }
}

async function resetLedger(options: HostRunOptions, ledger: Ledger): Promise<readonly ResetStep[]> {
  const { host } = options
  const { run, plan, ops } = await openRemoval(options, ledger)
  const stops = ops.filter(({ action }) => action === 'stop')
  const removals = ops.filter(({ action }) => action === 'remove')
  const report: ResetStep[] = []
  await journalRun(run, { command: 'reset' }, async () => {
    await deleteTemporaryFiles(host, ledger, plan)
    for (const op of stops) await runRemovalOp(run, op)
    report.push(...(await removeLeftovers(options, ledger)))
    for (const op of removals) await runRemovalOp(run, op)
    report.push({ step: 'things', removed: removals.map((op) => `${op.target} ${op.name}`) })
  })
  return report
}

/**
 * Removes the resources of the ledger one component after the other. Each predecessor starts as soon as its
 * component is removed.
 */
async function returnByLedger(options: HostRunOptions, ledger: Ledger): Promise<readonly ResetStep[]> {
  const { host } = options
  if (ledger.resources.some((one) => one.target === 'predecessor' && !one.kept)) throw rollbackImpossible()
  const { run, plan, ops } = await openRemoval(options, ledger)
  await journalRun(run, { command: 'return' }, async () => {
    await deleteTemporaryFiles(host, ledger, plan)
    for (const op of ops) await runRemovalOp(run, op)
  })
  return [{ step: 'things', removed: ops.map((op) => `${op.target} ${op.name}`) }]
}

async function removeLeftovers(
  { host, name, emit, signal }: HostRunOptions,
  ledger: Ledger,
): Promise<readonly ResetStep[]> {
  const report: ResetStep[] = []
  for (const [step, removeStep] of listLeftoverSteps(host, ledger)) {
    signal.throwIfAborted()
    const removed = await removeStep(signal).catch((cause: unknown) => {
      signal.throwIfAborted()
      const message = `cannot remove ${step} of the cluster`
      throw new HyperkubeError('APPLY_OP_FAILED', message, { host: name, cause })
    })
    report.push({ step, removed })
    if (removed.length > 0) emit({ type: 'log', lines: removed.map((line) => `${step}: ${line}`) })
  }
  return report
}

/** Stops a service or removes a resource, and records the op. */
export async function runRemovalOp(run: Run, op: Op): Promise<void> {
  await runOp(run, op, async () => (op.action === 'stop' ? stopOp(run, op) : removeLedgerResource(run, op)))
}

/** Removes a resource of the ledger from the host, and from the ledger. */
async function removeLedgerResource({ host, ledgerStore, emit }: Run, op: Op): Promise<OpOutcome> {
  const resource = findResource(ledgerStore.ledger, op)
  if (resource === undefined) return 'unchanged'
  const context = { host, ledger: ledgerStore.ledger }
  const { changed, retained, inUse = [] } = await handlersFor(host)[resource.target].remove(resource, context)
  if (inUse.length > 0) emit({ type: 'log', lines: inUse.map(formatInUse) }, op.component)
  await ledgerStore.save(withoutResource(ledgerStore.ledger, op, retained))
  return changed ? 'done' : 'unchanged'
}

/** Lists the steps, in order, that remove what programs created on the host. */
function listLeftoverSteps(host: Host, ledger: Ledger): readonly LeftoverStep[] {
  return host.os === 'windows' ? listWindowsLeftoverSteps(host, ledger) : listLinuxLeftoverSteps(host, ledger)
}

/** Name of the service that runs the agent. */
function agentServiceName({ os }: Pick<Host, 'os'>): string {
  return os === 'linux' ? 'hyperkube-agent.service' : 'hyperkube-agent'
}

/**
 * Removes hyperkube's own directories. The ledger is removed after all other files. On Linux only the agent's
 * socket is removed even later, so that an operator can retry after any failure. Returns paths that are still
 * in use.
 */
async function removeOwnFiles(host: Host, previousLedger: Ledger | undefined): Promise<readonly string[]> {
  const { files, layout } = host
  const { ownDirectories, state } = layout
  const ledger = ledgerPath({ layout })
  await removeAgentService(host)
  const inUse: string[] = []
  for (const root of ownDirectories.filter((path) => !isBelow(state, path)))
    inUse.push(...((await removeTreeUnlessInUse(host, root)).inUse ?? []))
  for (const [directory, keptName] of [
    [dirname(state), basename(state)],
    [state, basename(ledger)],
  ] as const) {
    const entries = (await files.list(directory)) ?? []
    for (const { name } of entries.filter((entry) => entry.name !== keptName))
      await files.removeTree(join(directory, name))
  }
  await files.removeTree(dirname(state))
  if (host.os === 'linux') await files.removeTree(host.layout.runtime)
  else await restoreBaseDirectory(host, previousLedger)
  return inUse
}

/**
 * Restores the permissions of the base directory if it existed before hyperkube. Otherwise removes it if it
 * is empty.
 */
async function restoreBaseDirectory(
  { files, layout }: WindowsHost,
  previousLedger: Ledger | undefined,
): Promise<void> {
  const { base } = layout
  const recorded = previousLedger?.resources.find(
    ({ target, name }) => target === 'directory' && name === base,
  )
  const before = recorded?.target === 'directory' ? recorded.before : undefined
  if (before !== undefined) await files.setAccess(base, before)
  else if ((await files.list(base))?.length === 0) await files.remove(base)
}

/**
 * Removes the agent's service. On a host without an applied plan the ledger does not contain this service, so
 * no op removes it.
 */
async function removeAgentService(host: Host): Promise<void> {
  const unit = agentServiceName(host)
  if (host.os === 'windows') {
    await removeScmService(host, unit)
    return
  }
  const file = unitFile(host, unit)
  if ((await host.files.stat(file)) === undefined) return
  await host.services.disable(unit)
  await host.files.remove(file)
  await host.services.reload()
}
