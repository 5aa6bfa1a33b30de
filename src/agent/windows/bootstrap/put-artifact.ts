import { bareComponent, type ComponentPlan, type PlannedArtifact } from '../../../contract/component-plan.ts'
import { nothingPlanned } from '../../../diff/empty-plan.ts'
import { emptyLedger } from '../../apply/ledger.ts'
import { artifact as target } from '../../apply/resources/artifact.ts'
import type { WindowsHost } from '../../host/host.ts'

/** No cluster knows of it yet: the first plan finds it whole, and writes it down. */
const nobody = { name: 'none', id: '00000000-0000-4000-8000-000000000000' }

/** Puts what is fetched in its place as an apply would, so that the first one finds it as it should be. */
export async function putArtifact(host: WindowsHost, artifact: PlannedArtifact): Promise<void> {
  const component: ComponentPlan = {
    ...bareComponent(),
    name: 'hyperkube-agent',
    stage: 'prepare',
    artifacts: [artifact],
  }
  const work = {
    host,
    ledger: emptyLedger(nobody),
    plan: nothingPlanned(nobody, 'this'),
    component,
    head: { name: `${artifact.name}-${artifact.version}`, digest: '', of: [] },
    secrets: new Map(),
    certificates: new Map(),
    emit: () => undefined,
    signal: new AbortController().signal,
  }
  await target.make(artifact, work, undefined)
}
