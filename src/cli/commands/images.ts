import { type Catalog, findKubernetesRelease } from '../../catalog/catalog.ts'
import { type Lock, pinnedImages } from '../../catalog/lock.ts'
import { parseImage, stripDigest } from '../../contract/image-reference.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { selectImages } from '../../workspace/cluster-registry.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadLock } from '../../workspace/load-lock.ts'
import { type CommandGroup, exitCodes, type LeafCommand } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'

/** An image that a cluster needs. */
interface NeededImage {
  readonly name: string
  readonly image: string
  /** Digest that the lock pins. */
  readonly digest?: string
  readonly for: string
}

const purposes: Readonly<Record<string, string>> = {
  pause: 'sandbox of every pod',
  coredns: 'cluster DNS: dns',
  'metrics-server': 'resource usage of pods and nodes: metrics',
  traefik: 'ingress controller: ingress',
  'local-path-provisioner': 'local volumes: storage',
  busybox: 'helper pods of local volumes: storage',
  'metallb-controller': 'addresses of LoadBalancer services: loadBalancer',
  'metallb-speaker': 'announces these addresses from the nodes: loadBalancer',
}

function listNeededImages(
  cluster: Cluster,
  catalog: Catalog,
  lock: Lock | undefined,
): readonly NeededImage[] {
  const release = findKubernetesRelease(catalog, cluster.spec.kubernetes)
  const pinned = pinnedImages({ images: lock?.images ?? {} }, release)
  return Object.entries(selectImages(cluster, pinned)).map(([name, reference]) => {
    const digest = parseImage(reference)?.digest
    return {
      name,
      image: stripDigest(reference),
      ...(digest === undefined ? {} : { digest }),
      for: purposes[name] ?? name,
    }
  })
}

const listImages: LeafCommand = {
  examples: [
    ['hyperkube images list', 'list all required container images and their purpose'],
    ['hyperkube images list -o wide', 'include full digests from cluster.lock'],
  ],
  sharedFlags: ['file', 'output'],
  configure: () => undefined,
  async run(context, { options }) {
    const { cluster, findings, catalog } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const items = listNeededImages(cluster, catalog, await loadLock(context, options.file))
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'ImageList', items }
    const columns = options.output === 'wide' ? wideColumns : narrowColumns
    printResult(context.stdout, options.output, document, () => formatTable(columns, items, context.paint))
    return exitCodes.ok
  },
}

export const imagesCommand: CommandGroup = {
  subcommands: [
    {
      name: 'list',
      summary: 'List the container images that the cluster needs',
      definition: listImages,
    },
  ],
}

const nameColumn: TableColumn<NeededImage> = { head: 'NAME', cell: (one) => ({ text: one.name }) }
const imageColumn: TableColumn<NeededImage> = { head: 'IMAGE', cell: (one) => ({ text: one.image }) }
const purposeColumn: TableColumn<NeededImage> = { head: 'FOR', cell: (one) => ({ text: one.for }) }

/** Length of a shortened digest, long enough to distinguish images. */
const shortDigestLength = 'sha256:'.length + 12

const narrowColumns = [
  nameColumn,
  imageColumn,
  buildDigestColumn((digest) => digest.slice(0, shortDigestLength)),
  purposeColumn,
]
const wideColumns = [nameColumn, imageColumn, buildDigestColumn((digest) => digest), purposeColumn]

function buildDigestColumn(formatDigest: (digest: string) => string): TableColumn<NeededImage> {
  return {
    head: 'DIGEST',
    cell: ({ digest }) =>
      digest === undefined ? { text: 'not locked', colour: 'yellow' } : { text: formatDigest(digest) },
  }
}
