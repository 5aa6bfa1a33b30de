import { type Finding, hasErrors } from '../contract/finding.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { KubeClient } from '../kube/client.ts'
import { reportSingleStep } from '../lifecycle/agents/event-stream.ts'
import { readCordon, requireNode, uncordon } from '../lifecycle/drain/cordon.ts'
import { drain, type DrainOptions } from '../lifecycle/drain/drain.ts'
import { forecastDrain } from '../lifecycle/drain/forecast.ts'
import { listNodePods, type SortedPods, sortPods } from '../lifecycle/drain/pod.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import {
  type ActionOutcome,
  type ActionRun,
  buildRefusedOutcome,
  buildUnconfirmedOutcome,
} from './phases/action-run.ts'

export interface DrainNodeOptions extends Pick<DrainOptions, 'deadline'> {
  readonly api: KubeClient
  readonly node: string
  /** Codes of findings that do not stop the action. */
  readonly ignore: readonly string[]
  /** Whether pods without a controller are deleted for good. */
  readonly force: boolean
  /** Whether changes are only shown. */
  readonly dryRun: boolean
}

type DrainContext = Pick<WorkspaceContext, 'operator' | 'now' | 'signal'>

/** Moves all pods away from a node. Phases: observe, check, show, confirm, evict. */
export async function drainNode(
  context: DrainContext,
  options: DrainNodeOptions,
  run: Pick<ActionRun, 'emit' | 'show' | 'confirm'>,
): Promise<ActionOutcome> {
  const { node, ignore } = options
  const reporting = { emit: run.emit, signal: context.signal }
  const force = options.force || ignore.includes('NODE_PODS_UNMANAGED')
  const observeStep = { step: 'observe', title: `list the pods on ${node}`, hosts: [node] }
  const observed = await reportSingleStep(reporting, observeStep, async () =>
    observeNode(options, context.signal),
  )
  const findings = observed.findings
    .map((finding) => raiseSeverity(finding, force))
    .filter(({ code }) => !ignore.includes(code))
  for (const finding of findings) run.emit({ type: 'finding', finding })
  if (hasErrors(findings)) return buildRefusedOutcome(findings)
  run.show({ type: 'drain', node, pods: observed.pods })
  if (options.dryRun) return { status: 'changes-pending', result: { outcome: 'unchanged' } }
  const confirmation = await run.confirm({ type: 'changes' })
  if (confirmation !== 'confirmed') return buildUnconfirmedOutcome(confirmation)
  // The step lists no hosts, because draining changes only objects in the cluster.
  const drainStep = { step: 'drain', title: `drain ${node}`, hosts: [] }
  await reportSingleStep(reporting, drainStep, async () => evictPods(context, { ...options, force }, run))
  return { status: 'ok', result: { outcome: 'done' } }
}

async function observeNode(
  { api, node }: DrainNodeOptions,
  signal: AbortSignal,
): Promise<{ readonly pods: SortedPods; readonly findings: readonly Finding[] }> {
  await requireNode(api, node, { signal })
  const [pods, findings] = await Promise.all([
    listNodePods(api, node, { signal }),
    forecastDrain(api, node, { signal }),
  ])
  return { pods: sortPods(pods), findings }
}

/**
 * Turns the finding about unmanaged pods into an error unless --force is given. These pods would be lost for
 * good.
 */
function raiseSeverity(finding: Finding, isForced: boolean): Finding {
  if (finding.code !== 'NODE_PODS_UNMANAGED' || isForced) return finding
  return { ...finding, severity: 'error', hint: `${finding.hint}; then drain with --force` }
}

async function evictPods(
  { operator, now, signal }: DrainContext,
  { api, node, deadline, force }: DrainNodeOptions,
  run: Pick<ActionRun, 'emit'>,
): Promise<void> {
  const since = now().toISOString()
  await drain(api, node, {
    deadline,
    force,
    cordonReason: `${operator.user}@${operator.machine}: hyperkube node drain`,
    waiting: (reason) => run.emit({ type: 'waiting', for: reason, since }),
    now,
    signal,
  })
}

/**
 * Uncordons a node. Returns false if the node was not cordoned. Without `force`, throws if hyperkube did not
 * set the cordon. A dry run changes nothing.
 */
export async function uncordonNode(
  api: KubeClient,
  node: string,
  { force, dryRun }: { readonly force: boolean; readonly dryRun: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const cordon = readCordon(await requireNode(api, node, { signal }))
  if (cordon === 'others' && !force) {
    throw new HyperkubeError(
      'NODE_CORDONED_BY_OTHERS',
      `${node} stays cordoned, because hyperkube did not cordon it`,
      { hint: `to uncordon it anyway: hyperkube node uncordon ${node} --force` },
    )
  }
  if (!dryRun) await uncordon(api, node, { force, signal })
  return cordon !== 'none'
}
