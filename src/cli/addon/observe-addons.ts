import { HyperkubeError } from '../../kit/errors.ts'
import { buildAddonInput } from '../../lifecycle/addons/propose-addons.ts'
import type { AddonProposal } from '../../lifecycle/addons/proposal.ts'
import { readAddonStatuses, type AddonStatus } from '../../lifecycle/addons/addon-status.ts'
import { explainNotReady } from '../../lifecycle/cluster-objects/node-readiness.ts'
import { listClusterEndpoints } from '../../lifecycle/host-endpoints.ts'
import { createClusterClient } from '../../lifecycle/cluster-client.ts'
import { readHostFacts } from '../../lifecycle/build-proposal.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { runWithProgress } from '../run-with-progress.ts'
import { runFlags } from '../run-flags.ts'
import { createRemoteLookup, buildClientOptions } from '../up/propose.ts'
import { connectCluster } from '../up/connect.ts'

export interface AddonsObservation {
  readonly proposal: AddonProposal
  readonly states: readonly AddonStatus[]
}

/** Reads the state of addons from the cluster. Also reads facts of hosts, because CoreDNS depends on them. */
export async function observeClusterAddons(
  context: CommandContext,
  options: Invocation['options'],
  inputs: ClusterInputs,
): Promise<{ readonly code: ExitCode; readonly observation: AddonsObservation | undefined }> {
  const settings = {
    command: 'addon',
    cluster: inputs.cluster.metadata.name,
    progress: runFlags.parse(options).progress,
    debug: options.debug === true,
  }
  let observation: AddonsObservation | undefined
  const { code } = await runWithProgress(context, settings, async (run) => {
    await using connected = await connectCluster(context, options, inputs, run, context.signal)
    const facts = await readHostFacts(connected.connected.sessions)
    using clusterClient = await createClusterClient(
      listClusterEndpoints(inputs.cluster),
      buildClientOptions(connected.inputs, context, createRemoteLookup(connected.connected)),
    )
    const apiState = await clusterClient.readApiState(buildAddonInput(inputs, facts))
    if (apiState === undefined) throw buildUnreachableError()
    for (const finding of apiState.addons.findings) run.emit({ type: 'finding', finding })
    const notReadyCount = apiState.nodes.filter((node) => explainNotReady(node) !== undefined).length
    observation = {
      proposal: apiState.addons,
      states: await readAddonStatuses(clusterClient.api, apiState.addons, notReadyCount),
    }
    return { code: exitCodes.ok, result: { outcome: 'unchanged' } }
  })
  return { code, observation }
}

function buildUnreachableError(): HyperkubeError {
  return new HyperkubeError(
    'ADDON_API_UNREACHABLE',
    'no API server answers, and addons are in the cluster alone',
    {
      hint: 'hyperkube status says what is wrong; hyperkube up brings it up',
    },
  )
}
