import { afterAll, beforeAll } from 'vitest'
import { freshLab } from './lab.ts'
import { type UpCluster, upCluster, type UpOptions } from './up-cluster.ts'

/** A cluster in a lab of its own, which is there from the first test of a suite to its last one. */
export function suiteCluster(
  name: string,
  shape: string,
  kubernetes: string,
  options: UpOptions = {},
): () => UpCluster {
  const stack = new AsyncDisposableStack()
  let cluster: UpCluster | undefined
  beforeAll(async () => {
    const lab = await freshLab(name)
    stack.defer(async () => lab.down())
    const up = await upCluster(lab, shape, kubernetes, options)
    stack.defer(async () => up.close())
    cluster = up
  }, 900_000)
  afterAll(async () => stack.disposeAsync())
  return () => {
    if (cluster === undefined) throw new Error('the cluster is not up yet')
    return cluster
  }
}
