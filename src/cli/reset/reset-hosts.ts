import { type Finding, hasErrors } from '../../contract/finding.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { readRemovalOps } from '../../lifecycle/removal-ops.ts'
import type { PlannedChanges } from '../../lifecycle/plan-document.ts'
import { resetHost } from '../../lifecycle/reset.ts'
import { reportStep } from '../../lifecycle/event-stream.ts'
import { emptyProposal } from '../../lifecycle/build-proposal.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import { type CommandContext, exitCodes, type Invocation } from '../command.ts'
import { formatOpSummary } from '../plan/op-summary.ts'
import type { RunReporter, CommandOutcome } from '../run-with-progress.ts'
import { buildUnreachableFindings } from '../up/unreachable-findings.ts'
import type { ClusterConnection } from '../up/connect.ts'
import { buildRefusedResult } from '../up/refused-result.ts'
import { withOperatorLock } from '../up/operator-lock.ts'
import { joinNames } from '../format-text.ts'
import { confirmByName } from './confirm-by-name.ts'

export interface ResetDeps extends Pick<ClusterConnection, 'inputs' | 'connected'> {
  readonly context: CommandContext
  readonly options: Invocation['options']
  /** Hosts to reset. */
  readonly hosts: readonly HostSpec[]
  readonly flags: {
    readonly ignore: readonly string[]
    readonly forceUnlock: boolean
    /** Whether changes are only shown. */
    readonly dryRun: boolean
    readonly canPrompt: boolean
  }
  readonly run: RunReporter
  /** Called with the planned changes in a dry run. */
  readonly onPlanned: (changes: PlannedChanges) => void
  /** After this call, an interrupt no longer stops the wait for hosts. */
  readonly deferAbort: () => void
  readonly onReset: (host: string) => void
}

/**
 * Shows what would be lost, asks for confirmation, and removes everything that belongs to the cluster from
 * the hosts.
 */
export async function resetHosts(deps: ResetDeps): Promise<CommandOutcome> {
  const { context, options, inputs, connected, hosts, flags, run } = deps
  const requested = new Set(hosts.map(({ name }) => name))
  const unreachable = new Map([...connected.unreachable].filter(([host]) => requested.has(host)))
  const findings = [
    ...buildUnreachableFindings(unreachable),
    ...checkControlPlaneLoss(inputs.cluster, requested),
  ].filter(({ code }) => !flags.ignore.includes(code))
  for (const finding of findings) run.emit({ type: 'finding', finding })
  if (hasErrors(findings)) return buildRefusedResult(findings)
  const reachable = [...requested].filter((host) => connected.sessions.has(host))
  run.print(formatWarning(inputs.cluster, reachable, requested.size === inputs.cluster.spec.hosts.length))
  if (flags.dryRun) return showDryRun(deps, findings, reachable)
  const confirmed = await confirmByName(context, options, inputs.cluster.metadata.name, flags.canPrompt)
  if (confirmed !== true) return { code: confirmed, result: { outcome: 'unchanged' } }
  await executeReset(deps, reachable)
  const code = unreachable.size === 0 ? exitCodes.ok : exitCodes.changesPending
  return { code, result: { outcome: 'done' } }
}

const step = 'reset'

async function showDryRun(
  { context, inputs, connected, run, onPlanned }: ResetDeps,
  findings: readonly Finding[],
  reachable: readonly string[],
): Promise<CommandOutcome> {
  const sessions = new Map([...connected.sessions].filter(([host]) => reachable.includes(host)))
  const ops = await readRemovalOps(inputs.identity, sessions)
  for (const [host, hostOps] of ops) run.print(`${host}\n${formatOpSummary(hostOps, context.paintProgress)}`)
  onPlanned({ ...emptyProposal, findings, ops, steps: [{ id: step, hosts: reachable }] })
  return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
}

async function executeReset(deps: ResetDeps, reachable: readonly string[]): Promise<void> {
  const { connected, flags, run, deferAbort, onReset } = deps
  deferAbort()
  await withOperatorLock(
    { ...deps, forceUnlock: flags.forceUnlock, allowMinority: true },
    async ({ claim, forgetHost }, signal) => {
      const reporting = { emit: run.emit, signal }
      run.emit({
        type: 'steps-planned',
        steps: [{ step, title: `reset ${joinNames(reachable)}`, hosts: [...reachable] }],
      })
      run.emit({ type: 'step-started', step })
      await reportStep(reporting, { step }, async () =>
        settleAll(
          reachable.flatMap((host) => {
            const session = connected.sessions.get(host)
            if (session === undefined) return []
            run.emit({ type: 'step-started', step }, { host })
            return [
              reportStep(reporting, { step, host }, async () => {
                await resetHost(session, claim, run.emit)
                forgetHost(host)
                onReset(host)
              }),
            ]
          }),
        ),
      )
    },
  )
}

/** Reports a reset of only some etcd members or control planes, because the others could lose the quorum. */
function checkControlPlaneLoss({ spec }: Cluster, requested: ReadonlySet<string>): Finding[] {
  const members = spec.hosts
    .filter(({ roles }) => roles.some((role) => role !== 'worker'))
    .map(({ name }) => name)
  const membersToReset = members.filter((name) => requested.has(name))
  if (membersToReset.length === 0 || membersToReset.length === members.length) return []
  return [
    {
      code: 'RESET_CONTROL_PLANE',
      severity: 'error',
      message: `${joinNames(membersToReset)} would be removed from a control plane that keeps running and still counts it as a member`,
      hint: 'without --limit the whole cluster is reset; --ignore RESET_CONTROL_PLANE if the rest is lost anyway',
    },
  ]
}

function formatWarning({ metadata }: Cluster, hosts: readonly string[], isAll: boolean): string {
  const changes = isAll
    ? `the cluster ${metadata.name} ends, with all that runs in it and all that its etcd holds`
    : `${joinNames(hosts)}: all pods on it end`
  return `${changes}; everything that hyperkube has put on ${joinNames(hosts)} is removed.\nData of pods in directories of a host stays there.\n`
}
