import { isPending, type Proposal, type Wish } from '../../lifecycle/build-proposal.ts'
import { surroundings } from '../../lifecycle/cluster-client.ts'
import { hasErrors } from '../../contract/finding.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import type { ProgressKind } from '../render/open-progress.ts'
import { reportedRun } from '../run-with-progress.ts'
import { refused } from '../up/refused-result.ts'
import { proposeLive } from '../up/propose.ts'
import { reach } from '../up/connect.ts'

export interface LiveFlags {
  readonly ignore: readonly string[]
  readonly diff: boolean
  readonly progress: ProgressKind
}

export interface Looked {
  readonly code: ExitCode
  /** None when nobody could look. */
  readonly proposal: Proposal | undefined
}

/** Asks the hosts themselves. All that is put on them for it is hyperkube. */
export async function lookLive(
  context: Context,
  options: Invocation['options'],
  wish: Wish,
  { ignore, diff, progress }: LiveFlags,
): Promise<Looked> {
  const settings = {
    command: 'plan',
    cluster: wish.cluster.metadata.name,
    progress,
    debug: options.debug === true,
  }
  let proposal: Proposal | undefined
  const { code } = await reportedRun(context, settings, async (run) => {
    await using reached = await reach(context, options, wish, run, context.signal)
    proposal = await proposeLive({
      ...reached,
      context,
      options,
      ignore,
      texts: diff,
      mayBeOnTrial: true,
      run,
      look: surroundings,
    })
    if (hasErrors(proposal.findings)) return refused(proposal.findings)
    const isMore = isPending(proposal) || reached.crew.missing.size > 0
    return {
      code: isMore ? exitCodes.changesPending : exitCodes.ok,
      result: { outcome: 'unchanged' },
    }
  })
  return { code, proposal }
}
