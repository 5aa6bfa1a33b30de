import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { cordonOf, nodeNamed, uncordon } from '../../lifecycle/drain/cordon.ts'
import { exitCodes } from '../command.ts'
import { print } from '../print.ts'
import { type NodeAction, nodeOf } from './action.ts'
import { type OpenApi, openApi } from './open-api.ts'

const flags = z.object({ force: z.boolean().default(false) })

/** `hyperkube node uncordon NAME` */
export const uncordonNode: NodeAction = async ({ context, options, cluster, name }) => {
  const node = nodeOf({ cluster, name })
  await using opened = await openApi(context, options, cluster)
  const changed = await letBack(opened.api, node, flags.parse(options).force, context.signal)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodeUncordonResult',
    cluster: cluster.metadata.name,
    node,
    outcome: changed ? 'done' : 'unchanged',
  }
  print(context.stdout, options.output, document, () =>
    changed ? `${node} takes pods again\n` : `${node} is not cordoned\n`,
  )
  return exitCodes.ok
}

/** Whether it was cordoned. Fails where somebody else has done that, and nobody insists. */
export async function letBack(
  api: OpenApi['api'],
  node: string,
  force: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const cordon = cordonOf(await nodeNamed(api, node, { signal }))
  if (cordon === 'others' && !force) {
    throw new HyperkubeError(
      'NODE_CORDONED_BY_OTHERS',
      `it was not hyperkube that has cordoned ${node}, and so it stays`,
      { hint: `if it shall take pods all the same: hyperkube node uncordon ${node} --force` },
    )
  }
  await uncordon(api, node, { force, signal })
  return cordon !== 'none'
}
