import { conformanceParts } from '../../lab/engine/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { freshLab } from './lab.ts'
import { serveOutsideNames } from './outside-names.ts'
import { type UpCluster, upCluster } from './up-cluster.ts'

/** A cluster as people have it, with its addons, and a mirror that has upstream's suite and the images of its tests. */
export interface ConformanceCluster extends AsyncDisposable {
  readonly cluster: UpCluster
}

export async function conformanceCluster(name: string): Promise<ConformanceCluster> {
  const lab = await freshLab(name)
  const names = await serveOutsideNames(lab.gateway)
  const close = async (cluster?: UpCluster): Promise<void> => {
    try {
      await cluster?.close()
    } finally {
      await names[Symbol.asyncDispose]()
      await lab.down()
    }
  }
  try {
    const cluster = await come(lab)
    return { cluster, [Symbol.asyncDispose]: async () => close(cluster) }
  } catch (error) {
    await close()
    throw error
  }
}

async function come(lab: Lab): Promise<UpCluster> {
  return upCluster(lab, '3+2', '1.37.1', {
    addons: true,
    parts: conformanceParts,
    prepare: async ({ edit }) =>
      edit((document) => document.setIn(['spec', 'dns', 'forward'], [lab.gateway])),
  })
}
