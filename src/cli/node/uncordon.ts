import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { readCordon, requireNode, uncordon } from '../../lifecycle/drain/cordon.ts'
import { exitCodes } from '../command.ts'
import { printResult } from '../print.ts'
import { type NodeAction, resolveNodeName } from './action.ts'
import { type OpenApi, openApi } from './open-api.ts'

const flags = z.object({ force: z.boolean().default(false) })

export const uncordonNode: NodeAction = async ({ context, options, cluster, name }) => {
  const node = resolveNodeName({ cluster, name })
  await using opened = await openApi(context, options, cluster)
  const changed = await uncordonOwned(opened.api, node, flags.parse(options).force, context.signal)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodeUncordonResult',
    cluster: cluster.metadata.name,
    node,
    outcome: changed ? 'done' : 'unchanged',
  }
  printResult(context.stdout, options.output, document, () =>
    changed ? `${node} takes pods again\n` : `${node} is not cordoned\n`,
  )
  return exitCodes.ok
}

/**
 * Uncordons a node and returns whether it was cordoned. Without `force`, fails if hyperkube did not cordon
 * the node.
 */
export async function uncordonOwned(
  api: OpenApi['api'],
  node: string,
  force: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const cordon = readCordon(await requireNode(api, node, { signal }))
  if (cordon === 'others' && !force) {
    throw new HyperkubeError(
      'NODE_CORDONED_BY_OTHERS',
      `hyperkube did not cordon ${node}, so it stays cordoned`,
      { hint: `to uncordon it anyway: hyperkube node uncordon ${node} --force` },
    )
  }
  await uncordon(api, node, { force, signal })
  return cordon !== 'none'
}
