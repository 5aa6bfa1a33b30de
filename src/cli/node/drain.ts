import { z } from 'zod'
import { type Finding, hasErrors } from '../../contract/finding.ts'
import { toPrintable } from '../../kit/printable.ts'
import { requireNode } from '../../lifecycle/drain/cordon.ts'
import { drain } from '../../lifecycle/drain/drain.ts'
import { forecastDrain } from '../../lifecycle/drain/forecast.ts'
import { findController, formatPodName, listNodePods } from '../../lifecycle/drain/pod.ts'
import { type SortedPods, sortPods } from '../../lifecycle/drain/sort-pods.ts'
import { reportSingleStep } from '../../lifecycle/event-stream.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { formatCount } from '../format-text.ts'
import { printResult } from '../print.ts'
import { type CommandOutcome, resultNames, type RunReporter, runWithProgress } from '../run-with-progress.ts'
import { confirmChanges } from '../up/confirm.ts'
import { buildRefusedResult } from '../up/refused-result.ts'
import { upFlags } from '../up/up-flags.ts'
import { type NodeAction, resolveNodeName } from './action.ts'
import { type OpenApi, openApi } from './open-api.ts'

const flags = upFlags.extend({
  deadline: z.number().default(600_000),
  force: z.boolean().default(false),
})

export const drainNode: NodeAction = async ({ context, options, cluster, name }) => {
  const { progress } = flags.parse(options)
  const settings = {
    command: `node drain ${name}`,
    cluster: cluster.metadata.name,
    progress,
    debug: options.debug === true,
  }
  const node = resolveNodeName({ cluster, name })
  const { code } = await runWithProgress(context, settings, async (run) => {
    await using opened = await openApi(context, options, cluster)
    return await confirmAndDrain({ context, options, api: opened.api, node, run })
  })
  if (code === exitCodes.usage) return code
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodeDrainResult',
    cluster: cluster.metadata.name,
    node,
    outcome: resultNames[code],
  }
  printResult(context.stdout, options.output, document, () => formatDrainResult(node, code))
  return code
}

export interface DrainDeps {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly api: OpenApi['api']
  readonly node: string
  readonly run: RunReporter
}

/** Shows the pods of a node and the findings, asks for confirmation, and drains the node. */
export async function confirmAndDrain(deps: DrainDeps): Promise<CommandOutcome> {
  const { context, options, node, run } = deps
  const { force, ignore, progress, dryRun } = flags.parse(options)
  const reporting = { emit: run.emit, signal: context.signal }
  const inspectStep = { step: 'observe', title: `read the pods of ${node}`, hosts: [node] }
  const isForced = force || ignore.includes('NODE_PODS_UNMANAGED')
  const { pods, findings } = await reportSingleStep(reporting, inspectStep, async () => inspectNode(deps))
  const shownFindings = findings
    .map((one) => raiseSeverity(one, isForced))
    .filter(({ code }) => !ignore.includes(code))
  for (const finding of shownFindings) run.emit({ type: 'finding', finding })
  if (hasErrors(shownFindings)) return buildRefusedResult(shownFindings)
  run.print(formatPodMoves(node, pods))
  if (dryRun) return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
  const confirmed = await confirmChanges(context, options, progress !== 'json')
  if (confirmed !== true) return { code: confirmed, result: { outcome: 'unchanged' } }
  // The step lists no hosts, because draining changes only objects in the cluster.
  const step = { step: 'drain', title: `move pods away from ${node}`, hosts: [] }
  await reportSingleStep(reporting, step, async () => evictPods(deps, isForced))
  return { code: exitCodes.ok, result: { outcome: 'done' } }
}

async function inspectNode({
  api,
  node,
  context: { signal },
}: DrainDeps): Promise<{ readonly pods: SortedPods; readonly findings: readonly Finding[] }> {
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
  return finding.code === 'NODE_PODS_UNMANAGED' && !isForced ? { ...finding, severity: 'error' } : finding
}

async function evictPods({ context, options, api, node, run }: DrainDeps, force: boolean): Promise<void> {
  const { operator, now, signal } = context
  const since = now().toISOString()
  await drain(api, node, {
    deadline: flags.parse(options).deadline,
    force,
    cordonReason: `${operator.user}@${operator.machine}: hyperkube node drain`,
    waiting: (reason) => run.emit({ type: 'waiting', for: reason, since }),
    now,
    signal,
  })
}

/** Describes what happens to the pods of a node, for the operator who must confirm it. */
function formatPodMoves(node: string, { moving, unmanaged, staying }: SortedPods): string {
  const podsToEvict = [...moving, ...unmanaged]
  const head = podsToEvict.length === 0 ? 'there are none to move' : 'these are moved away'
  const lines = podsToEvict.map((pod) => {
    const owner = findController(pod)
    return `  ${formatPodName(pod)} ${owner === undefined ? '(gone for good)' : `(${owner.kind} ${owner.name})`}\n`
  })
  const stayingText =
    staying.length === 0
      ? ''
      : `${formatCount(staying.length, 'pod')} of the node itself, or ended already: left alone\n`
  return toPrintable(`${node} takes no new pods, and ${head}\n${lines.join('')}${stayingText}`)
}

/** Describes the state of a node after it was drained. */
export function formatDrainResult(node: string, code: ExitCode): string {
  const hint = `hyperkube node uncordon ${node} lets pods come back`
  if (code === exitCodes.ok) return `${node} is empty, and takes no new pods; ${hint}\n`
  return code === exitCodes.interrupted ? `${node} may be cordoned; ${hint}\n` : ''
}
