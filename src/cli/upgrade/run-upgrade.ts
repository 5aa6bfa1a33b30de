import {
  checkUpgradePath,
  planUpgrade,
  type RunningCluster,
  type UpgradePlan,
} from '../../actions/plan-upgrade.ts'
import { lockSteps, upgrade, type UpgradeFilesDeps } from '../../actions/upgrade.ts'
import { type Catalog, listDefaultVersions } from '../../catalog/catalog.ts'
import { upgradePath } from '../../catalog/version.ts'
import { createIgnoreFilter, type Finding, hasErrors } from '../../contract/finding.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { requireCommitted } from '../../workspace/load-inputs.ts'
import { requireLock } from '../../workspace/load-lock.ts'
import { openApi } from '../../workspace/open-cluster.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { confirmChanges, exitCodeByConfirmation } from '../command/confirm.ts'
import { formatFindings } from '../command/print.ts'
import { takePreUpgradeSnapshot } from '../etcd/pre-upgrade-snapshot.ts'
import { exitCodeByStatus, statusByExitCode } from '../run/run-action.ts'
import { formatUpgradePlan } from './upgrade-text.ts'
import { runUp } from '../up/run-up.ts'
import { upFlags } from '../up/up-flags.ts'

export interface UpgradeCommand {
  readonly cluster: Cluster
  readonly catalog: Catalog
  /** Version that the operator requested. */
  readonly to: string
  /** Whether snapshots precede the steps. */
  readonly snapshot: boolean
}

/**
 * Upgrades a cluster through all minors up to the requested version. All checks of the whole path run before
 * the first change, and the operator confirms the path once.
 */
export async function runUpgrade(
  context: CommandContext,
  options: Invocation['options'],
  { cluster, catalog, to, snapshot }: UpgradeCommand,
): Promise<ExitCode> {
  const { dryRun, ignore, progress } = upFlags.parse(options)
  await requireCommitted(context, options, cluster)
  const path = upgradePath(cluster.spec.kubernetes, to, listDefaultVersions(catalog))
  const observed = await observe(context, options, cluster, to)
  const plan = planUpgrade(catalog, cluster, path, observed.running)
  const lock = await requireLock(context, options.file)
  const findings = [
    ...(await checkUpgradePath({ context, files: options, catalog }, cluster, lock, plan)),
    ...observed.findings,
  ].filter(createIgnoreFilter(ignore))
  const { stderr } = context
  stderr.write(formatUpgradePlan(cluster, plan, { snapshot }))
  stderr.write(formatFindings(findings))
  if (hasErrors(findings)) {
    stderr.write('no host was changed: fix these problems first, for the whole upgrade\n')
    return exitCodes.failure
  }
  const files: UpgradeFilesDeps = { context, files: options, report: (line) => stderr.write(`${line}\n`) }
  const steps = await lockSteps(files, plan.steps)
  const needsConfirmation = isChain(plan) && !dryRun
  if (needsConfirmation) {
    const confirmation = await confirmChanges(context, options, progress !== 'json')
    if (confirmation !== 'confirmed') return exitCodeByConfirmation[confirmation]
  }
  // The operator has confirmed the whole path, so the steps must not prompt again.
  const stepOptions = needsConfirmation ? { ...options, yes: true as const } : options
  const status = await upgrade({
    ...files,
    steps,
    takeSnapshot:
      snapshot && !dryRun
        ? async ({ kubernetes }) =>
            statusByExitCode(await takePreUpgradeSnapshot(context, options, cluster, kubernetes))
        : undefined,
    up: async ({ kubernetes }, change) =>
      statusByExitCode(
        await runUp(context, stepOptions, { ...change, command: `upgrade --to ${kubernetes}` }),
      ),
  })
  return exitCodeByStatus[status]
}

function isChain({ steps }: UpgradePlan): boolean {
  return steps.length > 1
}

interface ObservedCluster {
  /** Undefined if no API server is ready. */
  readonly running: RunningCluster | undefined
  readonly findings: readonly Finding[]
}

/**
 * Reads the versions that run now. Also finds what an upgrade to the requested version would break.
 */
async function observe(
  context: CommandContext,
  options: Invocation['options'],
  cluster: Cluster,
  to: string,
): Promise<ObservedCluster> {
  const { forgetHostKey } = upFlags.parse(options)
  try {
    await using api = await openApi(context, options, cluster, forgetHostKey)
    const state = await api.readApiState()
    if (state === undefined) return { running: undefined, findings: [] }
    const kubelets = state.nodes.flatMap(({ metadata, status }) => {
      const version = status?.nodeInfo?.kubeletVersion.replace(/^v/, '')
      return version === undefined ? [] : [[metadata.name, version] as const]
    })
    return {
      running: { servers: state.versions, kubelets: new Map(kubelets) },
      findings: await api.findUpgradeProblems(to),
    }
  } catch (error) {
    // Unreachable control planes are not an error yet: `up` connects to all hosts and reports the reasons.
    if (error instanceof HyperkubeError && error.code === 'SSH_UNREACHABLE')
      return { running: undefined, findings: [] }
    throw error
  }
}
