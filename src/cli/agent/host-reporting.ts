import { hostDeeds } from '../../agent/host-resource/handlers/create-request-handlers.ts'
import { ownMember } from '../../agent/host-resource/local-etcd.ts'
import { etcdutlProof } from '../../agent/host-resource/handlers/verify-snapshot.ts'
import type { Renew } from '../../agent/host-resource/handlers/renew-certificates.ts'
import { snapshotShelf } from '../../agent/host-resource/local-snapshots.ts'
import type { Healer } from '../../agent/heal/healer.ts'
import { watchPlan } from '../../agent/heal/watch-plan.ts'
import { hostCommand } from '../../agent/host/command.ts'
import type { Host } from '../../agent/host/host.ts'
import { knownCertificates } from '../../agent/host-resource/host-certificates.ts'
import { memberTold } from '../../agent/host-resource/etcd-report.ts'
import type { SpeakScene } from '../../agent/host-resource/host-resource-connection.ts'
import { toldOf } from '../../agent/host-resource/host-report.ts'
import { isTaken } from '../../agent/loop/is-locked-by-other.ts'
import type { HostWork } from '../../agent/server/dispatch.ts'
import type { ClaimStore } from '../../agent/operator-lock/operator-lock-store.ts'
import type { Runs } from '../../agent/runs/runs.ts'

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
