import { emptyComponent, type ComponentPlan, type PlannedArtifact } from '../../../contract/component-plan.ts'
import { buildEmptyPlan } from '../../../diff/empty-plan.ts'
import { emptyLedger } from '../../apply/ledger.ts'
import { artifactHandler as target } from '../../apply/resources/artifact.ts'
import type { WindowsHost } from '../../host/host.ts'

/** No cluster owns the artifact yet. The first apply finds it complete and records it. */
const noCluster = { name: 'none', id: '00000000-0000-4000-8000-000000000000' }

/** Installs an artifact as apply does, so that the first apply finds it in order. */
export async function installArtifact(host: WindowsHost, artifact: PlannedArtifact): Promise<void> {
  const component: ComponentPlan = {
    ...emptyComponent(),
    name: 'hyperkube-agent',
    stage: 'prepare',
    artifacts: [artifact],
  }
  const work = {
    host,
    ledger: emptyLedger(noCluster),
    plan: buildEmptyPlan(noCluster, 'this'),
    component,
    head: { name: `${artifact.name}-${artifact.version}`, digest: '', owners: [] },
    secrets: new Map(),
    certificates: new Map(),
    emit: () => undefined,
    signal: new AbortController().signal,
  }
  await target.make(artifact, work, undefined)
}
