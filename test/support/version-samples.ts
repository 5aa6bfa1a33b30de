import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status: { readonly nodeInfo: { readonly kubeletVersion: string } }
  }[]
}

/** Versions of a cluster at one moment. */
export interface VersionSample {
  readonly server: string
  readonly kubelets: Readonly<Record<string, string>>
}

/**
 * Polls the versions of an API server and of all kubelets. Keeps each sample that differs from the previous
 * one.
 */
export class VersionSamples {
  readonly samples: VersionSample[] = []
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(api: KubeApi) {
    this.#ended = this.#run(api)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #run(api: KubeApi): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // A read may fail, because this API server itself restarts during an upgrade.
      const sample = await readVersions(api).catch(() => undefined)
      const last = this.samples.at(-1)
      if (sample !== undefined && JSON.stringify(sample) !== JSON.stringify(last)) this.samples.push(sample)
      await sleep(1000, undefined, { signal: this.#stop.signal }).catch(() => undefined)
    }
  }

  /** Lists the kubelet versions that a node had, in order. */
  listKubeletVersions(node: string): string[] {
    const versions = this.samples.flatMap(({ kubelets }) => kubelets[node] ?? [])
    return versions.filter((version, index) => version !== versions[index - 1])
  }

  /** Lists moments at which a kubelet was newer than the API server, or more than three minors older. */
  findSkewViolations(): string[] {
    return this.samples.flatMap(({ server, kubelets }) =>
      Object.entries(kubelets).flatMap(([node, kubelet]) => {
        const skew = readMinor(server) - readMinor(kubelet)
        return skew < 0 || skew > 3 ? [`${node} has ${kubelet} and the API server ${server}`] : []
      }),
    )
  }
}

async function readVersions(api: KubeApi): Promise<VersionSample> {
  // The nodes are read first. In the other order, an upgrade between the two reads could make a kubelet look
  // newer than its API server.
  const { items } = await api.get<NodeList>('/api/v1/nodes')
  const { gitVersion } = await api.get<{ gitVersion: string }>('/version')
  return {
    server: gitVersion,
    kubelets: Object.fromEntries(
      items.map(({ metadata, status }) => [metadata.name, status.nodeInfo.kubeletVersion]),
    ),
  }
}

function readMinor(version: string): number {
  return Number(version.split('.')[1])
}
