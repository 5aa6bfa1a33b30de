// A Pulumi dynamic provider: a cluster as a resource. `pulumi preview` shows the hosts that would change,
// `pulumi up` applies the plan.
//
//   import * as pulumi from '@pulumi/pulumi'
//   class Cluster extends pulumi.dynamic.Resource {
//     constructor(name: string, inputs: pulumi.Inputs) {
//       super(createClusterProvider(), name, inputs)
//     }
//   }
//   new Cluster('prod', { file: 'prod/cluster.yml', executable: '/opt/hyperkube/hyperkube-linux-x64' })
//
// This file does not import Pulumi. `ResourceProvider` has the part of pulumi.dynamic.ResourceProvider that
// is used here.
import { readFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { openCluster, type ClusterHandle, type OpenClusterOptions, type Plan } from 'hyperkube/client'

export interface ClusterInputs {
  /** Path of cluster.yml. */
  readonly file: string
  readonly key?: string
  readonly executable: string
}

/** Outputs of the resource. They contain no secrets, because Pulumi stores them. */
export interface ClusterOutputs extends ClusterInputs {
  /** SHA-256 of cluster.yml when it was applied. */
  readonly appliedDigest: string
  readonly kubernetes: string
  readonly hosts: readonly string[]
}

export interface ResourceProvider {
  check(olds: unknown, news: ClusterInputs): Promise<{ inputs: ClusterInputs; failures: CheckFailure[] }>
  diff(id: string, olds: ClusterOutputs, news: ClusterInputs): Promise<{ changes: boolean }>
  create(inputs: ClusterInputs): Promise<{ id: string; outs: ClusterOutputs }>
  update(id: string, olds: ClusterOutputs, news: ClusterInputs): Promise<{ outs: ClusterOutputs }>
  delete(id: string): Promise<void>
}

interface CheckFailure {
  readonly property: string
  readonly reason: string
}

export type OpenCluster = (options: OpenClusterOptions) => Promise<ClusterHandle>

export function createClusterProvider(open: OpenCluster = openCluster): ResourceProvider {
  const apply = async (inputs: ClusterInputs): Promise<ClusterOutputs> => {
    const opened = await open(inputs)
    const plan = await opened.plan()
    requireNoErrors(plan)
    const { leftBehind } = await opened.up({ plan })
    if (leftBehind.length > 0) throw new Error(`unreachable: ${leftBehind.join(', ')}`)
    const { spec } = opened.cluster
    return {
      ...inputs,
      appliedDigest: await computeDigest(inputs.file),
      kubernetes: spec.kubernetes,
      hosts: spec.hosts.map(({ name }) => name),
    }
  }
  return {
    async check(_olds, news) {
      const reason = await open(news).then(
        () => undefined,
        (error: unknown) => String(error),
      )
      return { inputs: news, failures: reason === undefined ? [] : [{ property: 'file', reason }] }
    },
    // A preview must work without the hosts, so it compares the file and not the hosts.
    diff: async (_id, olds, news) => ({ changes: (await computeDigest(news.file)) !== olds.appliedDigest }),
    async create(inputs) {
      const outs = await apply(inputs)
      return { id: (await open(inputs)).cluster.metadata.name, outs }
    },
    update: async (_id, _olds, news) => ({ outs: await apply(news) }),
    async delete(id) {
      throw new Error(`delete the cluster ${id} by hand, because it deletes all data: hyperkube reset`)
    },
  }
}

function requireNoErrors({ findings }: Plan): void {
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ code, message }) => `${code}: ${message}`).join('\n'))
}

async function computeDigest(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}
