import { z } from 'zod'
import { type Finding, hasErrors } from '../../contract/finding.ts'
import { nodeNamed } from '../../lifecycle/drain/cordon.ts'
import { drain } from '../../lifecycle/drain/drain.ts'
import { drainForecast } from '../../lifecycle/drain/forecast.ts'
import { podsOn } from '../../lifecycle/drain/pod.ts'
import { type SortedPods, sortPods } from '../../lifecycle/drain/sort-pods.ts'
import { toldAside } from '../../lifecycle/event-stream.ts'
import { type Context, exitCodes, type Invocation } from '../command.ts'
import { print } from '../print.ts'
import { outcomeNames, type ReportedRun, reportedRun, type Verdict } from '../run-with-progress.ts'
import { agreed } from '../up/confirm.ts'
import { refused } from '../up/refused-result.ts'
import { upFlags } from '../up/up-flags.ts'
import { type NodeAction, nodeOf } from './action.ts'
import { drainedText, movingText } from './drain-text.ts'
import { type OpenApi, openApi } from './open-api.ts'

const flags = upFlags.extend({
  deadline: z.number().default(600_000),
  force: z.boolean().default(false),
})

/** `hyperkube node drain NAME` */
export const drainNode: NodeAction = async ({ context, options, cluster, name }) => {
  const { progress } = flags.parse(options)
  const settings = {
    command: `node drain ${name}`,
    cluster: cluster.metadata.name,
    progress,
    debug: options.debug === true,
  }
  const node = nodeOf({ cluster, name })
  const { code } = await reportedRun(context, settings, async (run) => {
    await using opened = await openApi(context, options, cluster)
    return await emptyNode({ context, options, api: opened.api, node, run })
  })
  if (code === exitCodes.usage) return code
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodeDrainResult',
    cluster: cluster.metadata.name,
    node,
    outcome: outcomeNames[code],
  }
  print(context.stdout, options.output, document, () => drainedText(node, code))
  return code
}

export interface DrainScene {
  readonly context: Context
  readonly options: Invocation['options']
  readonly api: OpenApi['api']
  readonly node: string
  readonly run: ReportedRun
}

/** Shows what would be moved and what is to be known of it, asks, and does it. */
export async function emptyNode(scene: DrainScene): Promise<Verdict> {
  const { context, options, node, run } = scene
  const { force, ignore, progress, dryRun } = flags.parse(options)
  const told = { tell: run.tell, signal: context.signal }
  const look = { step: 'look', title: `look at the pods of ${node}`, hosts: [node] }
  const isForced = force || ignore.includes('NODE_PODS_UNMANAGED')
  const { pods, findings } = await toldAside(told, look, async () => outlook(scene))
  const all = findings.map((one) => weighed(one, isForced)).filter(({ code }) => !ignore.includes(code))
  for (const finding of all) run.tell({ type: 'finding', finding })
  if (hasErrors(all)) return refused(all)
  run.say(movingText(node, pods))
  if (dryRun) return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
  const answer = await agreed(context, options, progress !== 'json')
  if (answer !== true) return { code: answer, result: { outcome: 'unchanged' } }
  // No host is touched by it.
  const step = { step: 'drain', title: `move pods away from ${node}`, hosts: [] }
  await toldAside(told, step, async () => move(scene, isForced))
  return { code: exitCodes.ok, result: { outcome: 'done' } }
}

async function outlook({
  api,
  node,
  context: { signal },
}: DrainScene): Promise<{ readonly pods: SortedPods; readonly findings: readonly Finding[] }> {
  await nodeNamed(api, node, { signal })
  const [pods, findings] = await Promise.all([
    podsOn(api, node, { signal }),
    drainForecast(api, node, { signal }),
  ])
  return { pods: sortPods(pods), findings }
}

/** Pods that would be gone for good are no matter for a question among others. */
function weighed(finding: Finding, isForced: boolean): Finding {
  return finding.code === 'NODE_PODS_UNMANAGED' && !isForced ? { ...finding, severity: 'error' } : finding
}

async function move({ context, options, api, node, run }: DrainScene, force: boolean): Promise<void> {
  const { operator, now, signal } = context
  const since = now().toISOString()
  await drain(api, node, {
    deadline: flags.parse(options).deadline,
    force,
    why: `${operator.user}@${operator.machine}: hyperkube node drain`,
    waiting: (reason) => run.tell({ type: 'waiting', for: reason, since }),
    now,
    signal,
  })
}
