import { z } from 'zod'
import { maxKubeletSkew } from '../../kit/version-skew.ts'
import { type ControllerContext, type ControllerDefinition, createReconciler } from '../controller.ts'
import { type KnownNode, nodeWatch } from '../watch-specs.ts'

export const versionSkew: ControllerDefinition = {
  name: 'version-skew',
  aliases: [],
  summary: 'reports nodes whose kubelet version is not supported by the API server',
  byDefault: true,
  watches: [nodeWatch],
  rules: [
    { nonResourceURLs: ['/version'], verbs: ['get'] },
    // Events about nodes are stored in the namespace `default`.
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'], namespace: 'default' },
  ],
  build(context) {
    const { queue } = context
    const known = context.getInformer(nodeWatch)
    let server = ''
    known.listen(({ key }) => queue.add(key))
    queue.add(apiServer)
    context.metrics.gauges(
      'hyperkube_nodes_by_version_skew',
      'Nodes, by the version skew of their kubelet.',
      () =>
        [...known.counts('kubelet')].map(([kubelet, count]) => [
          { kubelet, skew: computeSkew(kubelet, server) },
          count,
        ]),
    )
    return createReconciler(context, {
      async reconcile(key) {
        if (key === apiServer) {
          const before = server
          server = await readServerVersion(context)
          if (server !== before) for (const node of known.keys()) queue.add(node)
          return { requeueAfter: 5 * 60_000 }
        }
        const node = known.get(key)
        if (node === undefined) return undefined
        const problem = problems[computeSkew(node.kubelet, server)]
        if (problem === undefined) return undefined
        await recordEvent(context, node, `kubelet ${node.kubelet} ${problem} API server ${server}`)
        // The event is repeated every hour, because the API deletes events after an hour.
        return { requeueAfter: 60 * 60_000 }
      },
    })
  },
}

/** Queue key for reading the API server's version. It cannot be the name of a node. */
const apiServer = ''

const problems: Readonly<Partial<Record<VersionSkew, string>>> = {
  newer: 'must not be newer than',
  'too-old': 'is more than three minor versions behind',
}

const versionResponse = z.looseObject({ gitVersion: z.string() })

async function readServerVersion({ client }: ControllerContext): Promise<string> {
  return versionResponse.parse(await client.request({ method: 'GET', path: '/version' })).gitVersion
}

async function recordEvent(
  { events }: ControllerContext,
  { name, uid }: KnownNode,
  note: string,
): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid } }
  await events.record(node, { type: 'Warning', reason: 'VersionSkew', action: 'CompareVersions', note })
}

/** Relation of a kubelet's version to the API server's version. */
type VersionSkew = 'supported' | 'newer' | 'too-old' | 'unknown'

/** Compares two versions such as v1.37.1. */
export function computeSkew(kubelet: string, server: string): VersionSkew {
  const [kubeletMinor, serverMinor] = [parseMinor(kubelet), parseMinor(server)]
  if (kubeletMinor === undefined || serverMinor === undefined) return 'unknown'
  if (kubeletMinor > serverMinor) return 'newer'
  return kubeletMinor < serverMinor - maxKubeletSkew ? 'too-old' : 'supported'
}

function parseMinor(version: string): number | undefined {
  const [, minor] = /^v1\.(\d+)\./.exec(version) ?? []
  return minor === undefined ? undefined : Number(minor)
}
