import type { WatchedPlan } from '../../heal/watch-plan.ts'
import type { Host } from '../../host/host.ts'
import type { Deeds } from '../request-handlers.ts'
import { captureLogs } from './capture-logs.ts'
import { check } from './check.ts'
import { defragmentEtcd, type DefragmentScene } from './defragment-etcd.ts'
import { type Renew, renewCertificates } from './renew-certificates.ts'
import { type SnapshotScene, takeSnapshot } from './take-snapshot.ts'

export interface DeedScene extends Omit<DefragmentScene, 'host'>, SnapshotScene {
  readonly host: Host
  readonly plan: () => Promise<WatchedPlan | undefined>
  readonly renew: Renew
}

/** All that can be asked of a host, whatever its system. What it cannot do it says. */
export function hostDeeds(scene: DeedScene): Deeds {
  const { host, healer, renew } = scene
  return {
    check: check(healer),
    'capture-logs': captureLogs({ host, plan: async () => (await scene.plan())?.plan }),
    'renew-certificates': renewCertificates(renew),
    'defragment-etcd': defragmentEtcd(scene),
    'take-snapshot': takeSnapshot(scene),
  }
}
