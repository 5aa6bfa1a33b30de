import { type Finding, hasErrors } from '../contract/finding.ts'
import { settleAll } from '../kit/concurrency.ts'
import { joinNames } from '../kit/text.ts'
import { reportStep } from '../lifecycle/agents/event-stream.ts'
import { resetHost } from '../lifecycle/execute/remove-host.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import { emptyProposal } from '../lifecycle/proposal/proposal.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { limitHosts } from '../workspace/limit-hosts.ts'
import {
  type ActionOutcome,
  type ActionRun,
  buildRefusedOutcome,
  buildUnconfirmedOutcome,
} from './phases/action-run.ts'
import { type ClusterConnection, connectCluster } from './phases/connect.ts'
import {
  checkAnyReachable,
  checkUnreachable,
  readOpsOfRemoval,
  type RemovalOptions,
} from './phases/removal.ts'
import { withOperatorLock } from './phases/with-operator-lock.ts'

export interface ResetClusterOptions extends RemovalOptions {
  readonly onReset: (host: string) => void
}

/**
 * Removes everything that belongs to the cluster from hosts. Phases: connect, check, show, confirm by name,
 * remove under the operator lock.
 */
export async function reset(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: ResetClusterOptions,
  run: ActionRun,
): Promise<ActionOutcome> {
  await using connection = await connectCluster(context, inputs, options, run)
  const deps = { ...connection, context, options, run }
  const { findings, hosts, reachable } = checkHosts(deps)
  for (const finding of findings) run.emit({ type: 'finding', finding })
  if (hasErrors(findings)) return buildRefusedOutcome(findings)
  const { cluster } = inputs
  const isWholeCluster = hosts.length === cluster.spec.hosts.length
  run.show({ type: 'reset', cluster, hosts: reachable, isWholeCluster })
  if (options.dryRun) return await showDryRun(deps, findings, reachable)
  const confirmation = await run.confirm({ type: 'cluster-name', name: cluster.metadata.name })
  if (confirmation !== 'confirmed') return buildUnconfirmedOutcome(confirmation)
  await executeReset(deps, reachable)
  const status = reachable.length === hosts.length ? 'ok' : 'changes-pending'
  return { status, result: { outcome: 'done' } }
}

interface ResetDeps extends Pick<ClusterConnection, 'inputs' | 'connected' | 'deferAbort'> {
  readonly context: WorkspaceContext
  readonly options: ResetClusterOptions
  readonly run: ActionRun
}

interface CheckedHosts {
  readonly findings: readonly Finding[]
  /** Hosts to reset. */
  readonly hosts: readonly string[]
  readonly reachable: readonly string[]
}

function checkHosts({ inputs, connected, options }: ResetDeps): CheckedHosts {
  const hosts = limitHosts(inputs.cluster, options.limit).map(({ name }) => name)
  const requested = new Set(hosts)
  const findings = [
    ...checkUnreachable({ connected }, hosts),
    ...checkControlPlaneLoss(inputs.cluster, requested),
  ].filter(({ code }) => !options.ignore.includes(code))
  const reachable = hosts.filter((host) => connected.sessions.has(host))
  return { findings: [...findings, ...checkAnyReachable(noHost, hosts, reachable)], hosts, reachable }
}

const step = 'reset'
const noHost = { code: 'RESET_NO_HOST', verb: 'reset', notDone: 'removed' } as const

async function showDryRun(
  deps: ResetDeps,
  findings: readonly Finding[],
  reachable: readonly string[],
): Promise<ActionOutcome> {
  const { options, run } = deps
  const ops = await readOpsOfRemoval(deps, reachable)
  for (const [host, hostOps] of ops) run.show({ type: 'removal-ops', host, ops: hostOps })
  options.onPlanned({ ...emptyProposal, findings, ops, steps: [{ id: step, hosts: reachable }] })
  return { status: 'changes-pending', result: { outcome: 'unchanged' } }
}

async function executeReset(deps: ResetDeps, reachable: readonly string[]): Promise<void> {
  const { connected, options, run, deferAbort } = deps
  deferAbort()
  await withOperatorLock(
    { ...deps, forceUnlock: options.forceUnlock, removesHosts: true },
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
                options.onReset(host)
              }),
            ]
          }),
        ),
      )
    },
  )
}

/**
 * Reports a reset of only some etcd members or control planes, because the remaining members could lose the
 * quorum.
 */
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
      message: `resetting only ${joinNames(membersToReset)} leaves a control plane that still counts on these members; etcd can lose its quorum`,
      hint: 'remove one host: hyperkube node remove HOST; reset all hosts: omit --limit; if the other hosts are lost: --ignore RESET_CONTROL_PLANE',
    },
  ]
}
