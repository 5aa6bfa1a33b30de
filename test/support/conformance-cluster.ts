import { conformanceParts } from '../../lab/components/parts.ts'
import { openFreshLab } from './lab.ts'
import { startDnsServer } from './test-dns-server.ts'
import { type UpCluster, createUpCluster } from './up-cluster.ts'

/** A cluster with its addons, and a mirror that has the upstream suite and its images. */
export interface ConformanceCluster extends AsyncDisposable {
  readonly cluster: UpCluster
}

export async function startConformanceCluster(): Promise<ConformanceCluster> {
  await using stack = new AsyncDisposableStack()
  const lab = await openFreshLab('conformance')
  stack.defer(async () => lab.down())
  const cluster = await createUpCluster(lab, '3+2', '1.37.1', {
    addons: true,
    parts: conformanceParts,
    async prepare({ edit }) {
      stack.use(await startDnsServer(lab.gateway))
      await edit((document) => document.setIn(['spec', 'dns', 'forward'], [lab.gateway]))
    },
  })
  stack.defer(async () => cluster.close())
  const resources = stack.move()
  return { cluster, [Symbol.asyncDispose]: async () => resources.disposeAsync() }
}
