import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { diffPlan } from '../../diff/diff.ts'
import { buildEmptyPlan } from '../../diff/plan-resources.ts'
import type { Host } from '../host/host.ts'
import { toPresentResources } from '../resources/inspect.ts'
import { openJournal } from '../records/journal.ts'
import { LedgerStore, readLedger, withStopped } from '../records/ledger.ts'
import { type EmitRunEvent, journalRun, type OpOutcome, type Run, runOp } from '../records/run-op.ts'
import { stopService } from '../apply/start-service.ts'

export interface StopServicesOptions {
  readonly components: readonly string[]
  /** True if services are killed instead of stopped cleanly. */
  readonly immediately?: boolean | undefined
}

/** Stops the services of some components and nothing else. The next apply of the plan starts them again. */
export async function stopComponentServices(
  options: HostRunOptions,
  { components, immediately = false }: StopServicesOptions,
): Promise<void> {
  const ledger = await readLedger(options.host)
  if (ledger === undefined) return
  const { run, ops } = await openRemoval(options, ledger)
  const stops = ops.filter(({ action, component }) => action === 'stop' && components.includes(component))
  await journalRun(run, { command: 'stop-services' }, async () => {
    for (const op of stops) {
      await runOp(run, op, async () => {
        const outcome = await stopOp(run, op, immediately)
        await run.ledgerStore.save(withStopped(run.ledgerStore.ledger, op.name))
        return outcome
      })
    }
  })
}

/** A run that removes resources of a ledger. */
export interface Removal {
  readonly run: Run
  /** Plan without components. */
  readonly plan: NodePlan
  /** Ops that remove everything in the ledger, in order. */
  readonly ops: readonly Op[]
}

export async function openRemoval(options: HostRunOptions, ledger: Ledger): Promise<Removal> {
  const { host, name } = options
  const plan = buildEmptyPlan(ledger.cluster, name)
  const ledgerStore = new LedgerStore(host, ledger)
  return {
    run: { ...options, ledgerStore, journal: await openJournal(host, options.run) },
    plan,
    ops: diffAgainstLedger(plan, ledger),
  }
}

export async function stopOp(
  { host, emit, signal }: Run,
  { name, component }: Op,
  immediately = false,
): Promise<OpOutcome> {
  return (await stopService(host, name, component, emit, signal, immediately)) ? 'done' : 'unchanged'
}

/** Computes the ops for a plan as if every resource of the ledger were present and unchanged. */
export function diffAgainstLedger(plan: NodePlan, { resources }: Ledger): Op[] {
  return diffPlan(
    plan,
    toPresentResources(resources.map((resource) => ({ resource, state: 'as-written' as const }))),
  )
}

export interface HostRunOptions<H extends Host = Host> {
  readonly host: H
  /** Name of the host in cluster.yml. */
  readonly name: string
  readonly run: string
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}
