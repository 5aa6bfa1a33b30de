import { HyperkubeError } from '../../kit/errors.ts'
import { addonsOf } from '../../lifecycle/addons/propose-addons.ts'
import type { AddonProposal } from '../../lifecycle/addons/proposal.ts'
import { addonStates, type AddonState } from '../../lifecycle/addons/addon-status.ts'
import { whyNotReady } from '../../lifecycle/cluster-objects/node-readiness.ts'
import { placesIn } from '../../lifecycle/host-endpoints.ts'
import { surroundings } from '../../lifecycle/cluster-client.ts'
import { factsOf, type Wish } from '../../lifecycle/build-proposal.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { reportedRun } from '../run-with-progress.ts'
import { runFlags } from '../run-flags.ts'
import { remotesOf, viewOf } from '../up/propose.ts'
import { reach } from '../up/connect.ts'

export interface LookedAddons {
  readonly proposal: AddonProposal
  readonly states: readonly AddonState[]
}

/** Asks the cluster what it has of its addons. What CoreDNS is given depends on the hosts, so they are asked as well. */
export async function lookAtAddons(
  context: Context,
  options: Invocation['options'],
  wish: Wish,
): Promise<{ readonly code: ExitCode; readonly looked: LookedAddons | undefined }> {
  const settings = {
    command: 'addon',
    cluster: wish.cluster.metadata.name,
    progress: runFlags.parse(options).progress,
    debug: options.debug === true,
  }
  let looked: LookedAddons | undefined
  const { code } = await reportedRun(context, settings, async (run) => {
    await using reached = await reach(context, options, wish, run, context.signal)
    const facts = await factsOf(reached.crew.sessions)
    using around = await surroundings(
      placesIn(wish.cluster),
      viewOf(reached.wish, context, remotesOf(reached.crew)),
    )
    const inside = await around.inside(addonsOf(wish, facts))
    if (inside === undefined) throw silent()
    for (const finding of inside.addons.findings) run.tell({ type: 'finding', finding })
    const away = inside.nodes.filter((node) => whyNotReady(node) !== undefined).length
    looked = { proposal: inside.addons, states: await addonStates(around.api, inside.addons, away) }
    return { code: exitCodes.ok, result: { outcome: 'unchanged' } }
  })
  return { code, looked }
}

function silent(): HyperkubeError {
  return new HyperkubeError(
    'ADDON_API_SILENT',
    'no API server answers, and addons are in the cluster alone',
    {
      hint: 'hyperkube status says what is wrong; hyperkube up brings it up',
    },
  )
}
