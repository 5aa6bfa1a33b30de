import { afterAll, beforeAll } from 'vitest'
import { openFreshLab } from './lab.ts'
import { type UpCluster, createUpCluster, type UpClusterOptions } from './up-cluster.ts'

/** Creates a cluster in its own lab before the first test of a suite, and removes it after the last. */
export function setUpCluster(
  name: string,
  shape: string,
  kubernetes: string,
  options: UpClusterOptions = {},
): () => UpCluster {
  const stack = new AsyncDisposableStack()
  let cluster: UpCluster | undefined
  beforeAll(async () => {
    const lab = await openFreshLab(name)
    stack.defer(async () => lab.down())
    const created = await createUpCluster(lab, shape, kubernetes, options)
    stack.defer(async () => created.close())
    cluster = created
  }, 900_000)
  afterAll(async () => stack.disposeAsync())
  return () => {
    if (cluster === undefined) throw new Error('the cluster is not up yet')
    return cluster
  }
}
