import { hostDeeds } from '../../agent/deeds/host-deeds.ts'
import { ownMember } from '../../agent/deeds/own-member.ts'
import { etcdutlProof } from '../../agent/deeds/prove-snapshot.ts'
import type { Renew } from '../../agent/deeds/renew-certificates.ts'
import { snapshotShelf } from '../../agent/deeds/snapshot-shelf.ts'
import type { Healer } from '../../agent/heal/healer.ts'
import { watchPlan } from '../../agent/heal/watch-plan.ts'
import { hostCommand } from '../../agent/host/command.ts'
import type { Host } from '../../agent/host/host.ts'
import { knownCertificates } from '../../agent/host-object/known-certificates.ts'
import { memberTold } from '../../agent/host-object/member-told.ts'
import type { SpeakScene } from '../../agent/host-object/speak-for-host.ts'
import { toldOf } from '../../agent/host-object/told.ts'
import { isTaken } from '../../agent/rounds/is-taken.ts'
import type { HostWork } from '../../agent/serve/answer.ts'
import type { ClaimStore } from '../../agent/serve/claim-store.ts'
import type { Runs } from '../../agent/serve/runs.ts'

export interface SpeakerWish {
  readonly host: Host
  readonly work: Pick<HostWork, 'restoring'>
  readonly runs: Runs
  readonly claims: Pick<ClaimStore, 'held'>
  readonly healer: Pick<Healer, 'health'>
  readonly renew: Renew
  readonly version: string
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** What the agent does for controllers and says to them, on a host of any system. */
export function hostSpeaker(wish: SpeakerWish): SpeakScene {
  const { host, runs, claims, healer, version, say, signal } = wish
  const plan = watchPlan(host)
  const member = ownMember({ host, plan, signal })
  const shelf = snapshotShelf(host.layout.snapshots)
  return {
    host,
    plan,
    deeds: hostDeeds({ ...wish, plan, member, shelf, prove: etcdutlProof(hostCommand) }),
    told: toldOf({
      version,
      healer,
      certificates: knownCertificates(host, plan),
      member: memberTold({ member, shelf, clock: host.clock }),
    }),
    generation: () => claims.held?.generation ?? 0,
    taken: async () => runs.busy || (await isTaken(wish)),
    random: Math.random,
    say,
    signal,
  }
}
