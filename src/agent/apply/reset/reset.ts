import type { Ledger } from '../../../contract/ledger.ts'
import type { Op } from '../../../contract/op.ts'
import { nothingPlanned } from '../../../diff/nothing-planned.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { Emit } from '../emit.ts'
import { openJournal } from '../journal.ts'
import { findThing, withoutThing } from '../ledger.ts'
import { LedgerBook, readLedger } from '../ledger-file.ts'
import { journalRun, type Outcome, type Run, runOp } from '../run.ts'
import { sweep } from '../sweep.ts'
import { targets } from '../targets.ts'
import { removeCgroups } from './cgroups.ts'
import { removeChains } from './chains.ts'
import { endContainers } from './containers.ts'
import { removeData } from './data.ts'
import { type Leftovers, leftoversOf } from './leftovers.ts'
import { removeLinks } from './links.ts'
import { unmountAll } from './mounts.ts'
import { opsAgainst } from './ops-against.ts'
import { ownUnit, removeOwn } from './own.ts'
import type { Step } from './step.ts'
import { stop } from './stop-services.ts'
import { removeTables } from './tables.ts'

export interface ResetOptions {
  readonly host: LinuxHost
  /** What the operator calls the host. */
  readonly name: string
  readonly run: string
  readonly emit: Emit
  readonly signal: AbortSignal
}

export interface Reset {
  readonly report: readonly ResetStep[]
  /** Ends the service that this process is, if it is one: to be done when all has been told. */
  readonly farewell: (() => Promise<void>) | undefined
}

export interface ResetStep {
  readonly step: string
  /** What was there of it. */
  readonly removed: readonly string[]
}

const steps: readonly (readonly [name: string, step: Step])[] = [
  ['containers', endContainers],
  ['mounts', unmountAll],
  ['links', removeLinks],
  ['tables of nftables', removeTables],
  ['chains of iptables', removeChains],
  ['control groups', removeCgroups],
  ['data', removeData],
]

/**
 * Takes everything of ours off a host, without any plan, and leaves what is not ours. The ledger goes last: who is cut
 * over it can begin again.
 */
export async function reset(options: ResetOptions): Promise<Reset> {
  const { host, signal } = options
  const ledger = await readLedger(host)
  const isService = (await host.systemd.show(ownUnit)).pid === host.release.pid
  const report = ledger === undefined ? [] : await resetLedger(options, ledger)
  signal.throwIfAborted()
  await removeOwn(host)
  return { report, farewell: isService ? async () => host.systemd.stop(ownUnit) : undefined }
}

async function resetLedger(options: ResetOptions, ledger: Ledger): Promise<readonly ResetStep[]> {
  const { host, name } = options
  const book = new LedgerBook(host, ledger)
  const run: Run = { ...options, book, journal: await openJournal(host, options.run) }
  const plan = nothingPlanned(ledger.cluster, name)
  const ops = opsAgainst(plan, ledger)
  const stops = ops.filter(({ action }) => action === 'stop')
  const removals = ops.filter(({ action }) => action === 'remove')
  const report: ResetStep[] = []
  await journalRun(run, { command: 'reset' }, async () => {
    await sweep(host, ledger, plan)
    for (const op of stops) await runOp(run, op, async () => stop(run, op))
    report.push(...(await takeLeftovers(options, leftoversOf(ledger))))
    for (const op of removals) await runOp(run, op, async () => remove(run, op))
    report.push({ step: 'things', removed: removals.map((op) => `${op.target} ${op.name}`) })
  })
  return report
}

async function takeLeftovers(
  { host, name, emit, signal }: ResetOptions,
  leftovers: Leftovers,
): Promise<readonly ResetStep[]> {
  const report: ResetStep[] = []
  for (const [step, take] of steps) {
    signal.throwIfAborted()
    const removed = await take(host, leftovers, signal).catch((cause: unknown) => {
      signal.throwIfAborted()
      const message = `${step} of the cluster could not be taken away`
      throw new HyperkubeError('APPLY_OP_FAILED', message, { host: name, cause })
    })
    report.push({ step, removed })
    if (removed.length > 0) emit({ type: 'log', lines: removed.map((line) => `${step}: ${line}`) })
  }
  return report
}

async function remove({ host, book }: Run, op: Op): Promise<Outcome> {
  const thing = findThing(book.ledger, op)
  if (thing === undefined) return 'unchanged'
  const { changed, left } = await targets[thing.target].remove(thing, { host, ledger: book.ledger })
  await book.keep(withoutThing(book.ledger, op, left))
  return changed ? 'done' : 'unchanged'
}
