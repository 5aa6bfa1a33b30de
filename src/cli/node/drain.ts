import { z } from 'zod'
import { drainNode, uncordonNode } from '../../actions/drain.ts'
import { drainTimeoutMs } from '../../lifecycle/drain/drain.ts'
import { openApi } from '../../workspace/open-cluster.ts'
import { type ExitCode, exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { runAction } from '../run/run-action.ts'
import { resultNames } from '../run/run-with-progress.ts'
import { upFlags } from '../up/up-flags.ts'
import { type NodeAction, resolveNodeName } from './action.ts'

const drainFlags = upFlags.extend({
  deadline: z.number().default(drainTimeoutMs),
  force: z.boolean().default(false),
})

export const runDrain: NodeAction = async ({ context, options, cluster, name }) => {
  const { progress, ignore, forgetHostKey, dryRun, deadline, force } = drainFlags.parse(options)
  const settings = {
    command: `node drain ${name}`,
    cluster: cluster.metadata.name,
    progress,
  }
  const node = resolveNodeName({ cluster, name })
  const { code } = await runAction(context, options, settings, async (run) => {
    await using opened = await openApi(context, options, cluster, forgetHostKey)
    const drainOptions = { api: opened.api, node, ignore, force, dryRun, deadline }
    return await drainNode(context, drainOptions, run)
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

/** Describes the state of a node after it was drained. */
export function formatDrainResult(node: string, code: ExitCode): string {
  const hint = `to allow pods again: hyperkube node uncordon ${node}`
  if (code === exitCodes.ok) return `${node} is drained and cordoned; ${hint}\n`
  return code === exitCodes.interrupted ? `${node} may be cordoned; ${hint}\n` : ''
}

const uncordonFlags = z.looseObject({
  force: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  forgetHostKey: z.array(z.string()).default([]),
})

export const runUncordon: NodeAction = async ({ context, options, cluster, name }) => {
  const node = resolveNodeName({ cluster, name })
  const { force, dryRun, forgetHostKey } = uncordonFlags.parse(options)
  await using opened = await openApi(context, options, cluster, forgetHostKey)
  const changed = await uncordonNode(opened.api, node, { force, dryRun }, context.signal)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodeUncordonResult',
    cluster: cluster.metadata.name,
    node,
    outcome: changed ? (dryRun ? 'pending' : 'done') : 'unchanged',
  }
  const changedText = dryRun ? 'would be uncordoned' : 'is uncordoned'
  printResult(context.stdout, options.output, document, () =>
    changed ? `${node} ${changedText}\n` : `${node} is not cordoned\n`,
  )
  return changed && dryRun ? exitCodes.changesPending : exitCodes.ok
}
