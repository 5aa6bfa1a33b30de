import { type Finding, hasErrors } from '../../contract/finding.ts'
import { unfinishedRestore } from '../../lifecycle/restore/unfinished-restore.ts'
import type { Observer } from '../../lifecycle/cluster-access.ts'
import { type Place, placesOf } from '../../lifecycle/host-endpoints.ts'
import { type Tell, toldAside } from '../../lifecycle/event-stream.ts'
import type { SurroundingsOptions } from '../../lifecycle/cluster-client.ts'
import {
  nothing,
  type Proposal,
  survey,
  type SurveyOptions,
  type Wish,
} from '../../lifecycle/build-proposal.ts'
import { trialUnderWay } from '../../lifecycle/auto-rollback/provisional-changes.ts'
import type { Context, Invocation } from '../command.ts'
import { holderName } from '../lock-holder.ts'
import { limitHosts } from '../limit-hosts.ts'
import type { ReportedRun } from '../run-with-progress.ts'
import { missingFindings } from './unreachable-findings.ts'
import { objectsOf } from './desired-objects.ts'
import type { Reached } from './connect.ts'

export interface ProposeScene extends Pick<Reached, 'wish' | 'crew' | 'leavers'> {
  readonly context: Context
  readonly options: Invocation['options']
  readonly ignore: readonly string[]
  /** Whether what is in files that would change is asked for, too. */
  readonly texts?: boolean
  /** Whether all certificates shall be renewed, also those that are good for long. */
  readonly renew?: boolean
  /** Hosts whose etcd was given its data, and has never run with it. */
  readonly restored?: readonly string[]
  /** What a host will have to do by then, from what it says now. */
  readonly expected?: SurveyOptions['expected']
  /** Whether hosts that try something are no obstacle: nothing is done to them, or the same is tried on. */
  readonly mayBeOnTrial?: boolean
  readonly run: ReportedRun
  /** The ways into a cluster that runs. */
  readonly look: (places: readonly Place[], options: SurroundingsOptions) => Promise<Observer & Disposable>
}

/** Looks what is to be done on hosts that were reached, and tells of all that was found. Nothing is changed by it. */
export async function proposeLive(scene: ProposeScene): Promise<Proposal> {
  const { context, wish, crew, leavers, ignore, run, look, options } = scene
  const { texts = false, renew = false, restored = [], expected, mayBeOnTrial = false } = scene
  const trials = trialUnderWay(crew.trials, mayBeOnTrial ? 'warning' : 'error')
  const unfinished = [...unfinishedRestore(crew.restores), ...trials]
  if (hasErrors(unfinished)) return told(run.tell, { ...nothing, findings: unfinished })
  const why = (needed: readonly string[] = []): Finding[] =>
    missingFindings(crew.missing, new Set(needed)).filter(
      ({ code, host = '' }) => !ignore.includes(code) || needed.includes(host),
    )
  if (hasErrors(why())) return told(run.tell, { ...nothing, findings: why() })
  const proposal = await toldAside(
    { tell: run.tell, signal: context.signal },
    { step: 'look', title: 'look at what is there', hosts: [...crew.sessions.keys()] },
    async () =>
      survey(
        wish,
        crew.sessions,
        async (plans) =>
          look(placesOf(plans), {
            ...viewOf(wish, context, remotesOf(crew)),
            objects: objectsOf(wish.cluster, plans),
          }),
        {
          ignored: ignore,
          texts,
          renew,
          restored,
          expected,
          meet: leavers.meet,
          limit: options.limit && new Set(limitHosts(wish.cluster, options.limit).map(({ name }) => name)),
        },
      ),
  ).catch((error: unknown) => {
    told(run.tell, { ...nothing, findings: why() })
    throw error
  })
  const [without, rest] = apart(proposal.findings, crew)
  const needed = without.filter(({ severity }) => severity === 'error').flatMap(({ host }) => host ?? [])
  return told(run.tell, { ...proposal, findings: [...trials, ...why(needed), ...rest] })
}

/** That there are no facts of a host which did not answer goes without saying: why it did not is what matters. */
function apart(findings: readonly Finding[], { missing }: Reached['crew']): readonly [Finding[], Finding[]] {
  const isKnown = ({ code, host }: Finding): boolean => code === 'HOST_NO_FACTS' && missing.has(host ?? '')
  return [findings.filter(isKnown), findings.filter((finding) => !isKnown(finding))]
}

function told(tell: Tell, proposal: Proposal): Proposal {
  for (const finding of proposal.findings) tell({ type: 'finding', finding })
  return proposal
}

/** How a command looks at a cluster. */
export function viewOf(
  { identity, cluster }: Pick<Wish, 'identity' | 'cluster'>,
  { operator, now, signal }: Context,
  remoteOf: SurroundingsOptions['remoteOf'],
): SurroundingsOptions {
  return {
    identity,
    operator: holderName(operator, process.pid),
    apiPort: cluster.spec.api.port,
    remoteOf,
    now: now(),
    signal,
  }
}

/** Through whom a crew reaches its hosts now. */
export function remotesOf(
  { sessions }: Pick<Reached['crew'], 'sessions'>,
  leavers?: Pick<Reached['leavers'], 'sessions'>,
): SurroundingsOptions['remoteOf'] {
  return async (host) => (sessions.get(host) ?? leavers?.sessions.get(host))?.remote
}
