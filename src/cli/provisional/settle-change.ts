import type { Claim } from '../../contract/request.ts'
import { toldAside } from '../../lifecycle/event-stream.ts'
import type { PlannedTrial } from '../../lifecycle/auto-rollback/plan-provisional.ts'
import { endTrial, keepTrial } from '../../lifecycle/auto-rollback/provisional-requests.ts'
import { exitCodes } from '../command.ts'
import type { UpScene, UpVerdict } from '../up/propose-and-execute.ts'
import { type ClaimScene, underClaim } from '../up/operator-lock.ts'
import { askToKeep } from './ask-to-keep.ts'
import { type TrialEnd, untilText } from './text.ts'

/** By name of host. */
export type TrialIds = ReadonlyMap<string, { readonly id: string }>

/** All is done, and hosts count: asks whether it shall stay, where somebody is there to ask. */
export async function settleTrial(
  scene: UpScene,
  { id, time, hosts }: PlannedTrial,
  verdict: UpVerdict,
): Promise<UpVerdict> {
  const { context, options, flags } = scene
  const until = new Date(context.now().getTime() + time)
  const ids = new Map([...hosts.keys()].map((host) => [host, { id }]))
  const ended = (state: TrialEnd['state'], code: UpVerdict['code']): UpVerdict => ({
    ...verdict,
    code,
    trial: { state, until: untilText(until) },
  })
  const claims = { ...scene, forceUnlock: flags.forceUnlock }
  switch (flags.mayAsk ? await askToKeep(context, options, until) : 'nobody') {
    case 'keep':
      await keepAll(claims, ids)
      return ended('kept', verdict.code)
    case 'back':
      await backAll(claims, ids)
      return ended('goes-back', exitCodes.changesPending)
    case 'over':
      return ended('goes-back', exitCodes.changesPending)
    case 'left':
      return ended('on-trial', exitCodes.interrupted)
    default:
      return ended('on-trial', verdict.code)
  }
}

/** Tells all hosts. Answers with those that went back before they could be told. */
export async function keepAll(scene: ClaimScene, trials: TrialIds): Promise<readonly string[]> {
  return telling(scene, 'keep', 'what is on trial stays', trials, keepTrial)
}

/** Hosts go back as they would when the time is over, each in its slot: nobody has to stay for that. */
export async function backAll(scene: ClaimScene, trials: TrialIds): Promise<void> {
  await telling(scene, 'back', 'hosts go back, one after the other', trials, endTrial)
}

async function telling<T>(
  scene: ClaimScene,
  step: string,
  title: string,
  trials: TrialIds,
  tell: (trials: TrialIds, agents: ClaimScene['crew']['sessions'], claim: Claim) => Promise<T>,
): Promise<T> {
  const { crew, run } = scene
  return underClaim(scene, async ({ claim }, signal) =>
    toldAside({ tell: run.tell, signal }, { step, title, hosts: [...trials.keys()] }, async () =>
      tell(trials, crew.sessions, claim),
    ),
  )
}
