import { refuseUnknownHostKeys } from '../../actions/phases/accept-host-keys.ts'
import { connectCluster } from '../../actions/phases/connect.ts'
import { createRemoteLookup } from '../../actions/phases/propose.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type AddonStatus, readAddonStatuses } from '../../lifecycle/addons/addon-status.ts'
import type { AddonProposal } from '../../lifecycle/addons/proposal.ts'
import { buildAddonInput } from '../../lifecycle/addons/propose-addons.ts'
import { createClusterClient } from '../../lifecycle/cluster-client/create-cluster-client.ts'
import { explainNotReady } from '../../lifecycle/cluster-objects/node.ts'
import type { ClusterInputs } from '../../lifecycle/inputs/cluster-inputs.ts'
import { listClusterEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import { readHostFacts } from '../../lifecycle/proposal/read-hosts.ts'
import { buildClientOptions } from '../../workspace/open-cluster.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { runFlags } from '../command/run-flags.ts'
import { readDisplayFlags, runWithProgress } from '../run/run-with-progress.ts'

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
  const { progress, forgetHostKey: forgetHostKeys } = runFlags.parse(options)
  const settings = {
    command: 'addon',
    cluster: inputs.cluster.metadata.name,
    progress,
    ...readDisplayFlags(options),
  }
  let observation: AddonsObservation | undefined
  const { code } = await runWithProgress(context, settings, async (run) => {
    await using connected = await connectCluster(
      context,
      inputs,
      { files: options, forgetHostKeys },
      refuseUnknownHostKeys(run),
    )
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
    'no API server responds, so the state of addons is unknown',
    {
      hint: 'find the cause: hyperkube doctor; if the cluster does not exist yet: hyperkube up',
    },
  )
}
