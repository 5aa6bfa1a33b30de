import { conformanceParts } from '../../lab/components/parts.ts'
import { freshLab } from './lab.ts'
import { serveOutsideNames } from './test-dns-server.ts'
import { type UpCluster, upCluster } from './up-cluster.ts'

/** A cluster as people have it, with its addons, and a mirror that has upstream's suite and the images of its tests. */
export interface ConformanceCluster extends AsyncDisposable {
  readonly cluster: UpCluster
}

export async function conformanceCluster(): Promise<ConformanceCluster> {
  await using stack = new AsyncDisposableStack()
  const lab = await freshLab('conformance')
  stack.defer(async () => lab.down())
  const cluster = await upCluster(lab, '3+2', '1.37.1', {
    addons: true,
    parts: conformanceParts,
    async prepare({ edit }) {
      stack.use(await serveOutsideNames(lab.gateway))
      await edit((document) => document.setIn(['spec', 'dns', 'forward'], [lab.gateway]))
    },
  })
  stack.defer(async () => cluster.close())
  const whole = stack.move()
  return { cluster, [Symbol.asyncDispose]: async () => whole.disposeAsync() }
}
