import type { KeyObject } from 'node:crypto'
import { dirname, join } from 'node:path'
import { Argument } from 'commander'
import { z } from 'zod'
import { streamBundle, verifyBundle } from '../../bundle/archive.ts'
import { fetchBundleParts } from '../../bundle/fetch-parts.ts'
import type { BundleManifest } from '../../bundle/manifest.ts'
import { formatPublicKey, parsePublicKey } from '../../kit/signature.ts'
import type { NetworkSource } from '../../catalog/artifact-source.ts'
import { type Catalog, findKubernetesRelease } from '../../catalog/catalog.ts'
import { checkLock } from '../../catalog/check-lock.ts'
import type { Lock } from '../../catalog/lock.ts'
import { buildSigningKey } from '../../identity/signing-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { stopWhenAborted } from '../../kit/stop-when-aborted.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildCatalogPath } from '../../workspace/cluster-paths.ts'
import { createClusterRegistry, selectImages } from '../../workspace/cluster-registry.ts'
import { openClusterWeb } from '../../workspace/cluster-web.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadIdentity, openIdentity } from '../../workspace/load-identity.ts'
import { requireLock } from '../../workspace/load-lock.ts'
import { findUnpinnedChart, pinCharts } from '../../workspace/pin-charts.ts'
import { buildBundleReadError, findBundlePath } from '../../workspace/open-cluster-bundle.ts'
import {
  type CommandContext,
  type CommandGroup,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'

const flags = z.object({ out: z.string().optional(), publicKey: z.string().optional() })
type Options = Invocation['options']

export const bundleCommand: CommandGroup = {
  subcommands: [
    {
      name: 'create',
      summary: 'Write all binaries and images to an air-gap bundle',
      definition: {
        examples: [
          ['hyperkube bundle create', 'write the bundle beside cluster.yml'],
          ['hyperkube bundle create --out /media/stick/shop.bundle', 'write the bundle to another path'],
        ],
        sharedFlags: ['file', 'key', 'output'],
        configure: (command) =>
          command.option(
            '--out <file>',
            'write the bundle to this file (default: NAME-VERSION.bundle beside cluster.yml)',
          ),
        run: async (context, { options }) => runCreate(context, options),
      },
    },
    {
      name: 'verify',
      summary: 'Verify the checksums and the signature of a bundle',
      definition: {
        examples: [
          [
            'hyperkube bundle verify shop-1.37.1.bundle',
            'verify with the public key of the cluster identity',
          ],
          [
            'hyperkube bundle verify shop.bundle --public-key KEY',
            'verify a bundle without the cluster identity',
          ],
        ],
        sharedFlags: ['file', 'key', 'output'],
        configure: (command) =>
          command
            .addArgument(new Argument('[file]', 'bundle file (default: bundle in spec.artifacts)'))
            .option('--public-key <key>', 'require a signature of this public key, printed by bundle create'),
        run: async (context, { args: [file], options }) => runVerify(context, options, file),
      },
    },
  ],
}

async function runCreate(context: CommandContext, options: Options): Promise<ExitCode> {
  const { cluster, findings, catalog } = await loadCluster(context, options.file)
  context.stderr.write(formatFindings(findings))
  if (cluster === undefined) return exitCodes.failure
  const { file, size, manifest, publicKey } = await createBundle(context, options, {
    cluster,
    catalog,
    out: flags.parse(options).out,
  })
  const summary = { ...buildSummary(file, manifest, publicKey), size }
  printResult(context.stdout, options.output, summary, () =>
    toPrintable(
      `${file}: ${formatContent(manifest)}, ${Math.round(size / 1e6)} MB\n` +
        `signed; verify elsewhere: hyperkube bundle verify ${file} --public-key ${publicKey}\n`,
    ),
  )
  return exitCodes.ok
}

async function runVerify(
  context: CommandContext,
  options: Options,
  requestedFile: string | undefined,
): Promise<ExitCode> {
  const file = requestedFile ?? (await findDefaultFile(context, options))
  const key = await loadTrustedKey(context, options)
  const manifest = await verifyBundle(readBundleFile(context, file), key, ({ path }) =>
    context.stderr.write(toPrintable(`verified ${path}\n`)),
  )
  const summary = buildSummary(file, manifest, formatPublicKey(key))
  printResult(context.stdout, options.output, summary, () =>
    toPrintable(`${file} is a valid bundle of ${manifest.cluster}: ${formatContent(manifest)}\n`),
  )
  return exitCodes.ok
}

async function findDefaultFile(context: CommandContext, options: Options): Promise<string> {
  const { cluster } = await loadCluster(context, options.file)
  const file = cluster && findBundlePath(options.file, cluster)
  if (file !== undefined) return file
  throw new HyperkubeError('BUNDLE_NOT_READ', `${options.file} has no bundle in spec.artifacts`, {
    hint: 'pass the bundle: hyperkube bundle verify FILE',
  })
}

async function loadTrustedKey(context: CommandContext, options: Options): Promise<KeyObject> {
  const { publicKey } = flags.parse(options)
  if (publicKey !== undefined) return readPublicKey(publicKey)
  return buildSigningKey(await loadIdentity(context, options)).publicKey
}

function readPublicKey(text: string): KeyObject {
  const key = parsePublicKey(text)
  if (key !== undefined) return key
  throw new HyperkubeError('BUNDLE_KEY_NOT_READ', `${text} is not a public key of a bundle`, {
    hint: 'use the key that hyperkube bundle create printed: 44 characters, the last one =',
  })
}

/** Reads a bundle until an abort, and converts disk errors to errors that name the file. */
async function* readBundleFile(
  { bundles, signal }: CommandContext,
  file: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* stopWhenAborted(bundles.read(file), signal)
  } catch (cause) {
    throw cause instanceof HyperkubeError || signal.aborted ? cause : buildBundleReadError(file, cause)
  }
}

function formatContent({ lock, images }: BundleManifest): string {
  return `Kubernetes ${lock.kubernetes}, ${formatCount(lock.artifacts.length, 'file')}, ${formatCount(images.length, 'image')}`
}

function buildSummary(file: string, { cluster, lock, images, members }: BundleManifest, publicKey: string) {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'BundleSummary',
    file,
    cluster,
    kubernetes: lock.kubernetes,
    artifacts: lock.artifacts.length,
    images: images.map(({ reference }) => reference),
    members: members.length,
    publicKey,
  }
}

interface NewBundle {
  readonly cluster: Cluster
  readonly catalog: Catalog
  /** Path of the bundle, if it is not the default. */
  readonly out: string | undefined
}

interface CreatedBundle {
  readonly file: string
  /** Size of the bundle in bytes. */
  readonly size: number
  readonly manifest: BundleManifest
  readonly publicKey: string
}

/** Downloads all files and images of a cluster and writes them to one bundle. */
async function createBundle(
  context: CommandContext,
  options: Invocation['options'],
  { cluster, catalog, out }: NewBundle,
): Promise<CreatedBundle> {
  const { bundles, stderr, signal } = context
  const { name } = cluster.metadata
  const charts = await pinCharts(context, options.file, cluster)
  const lock = selectLock(cluster, catalog, await requireLock(context, options.file), charts)
  const key = buildSigningKey(await openIdentity(context, options, name))
  const file = out ?? join(dirname(options.file), `${name}-${lock.kubernetes}.bundle`)
  const parts = bundles.parts(file)
  const web = await openClusterWeb(context, options, cluster)
  const manifest = await fetchBundleParts(
    {
      cluster: name,
      lock,
      source: toNetworkSource(cluster),
      // Includes the signed catalog. Without internet access, the bundle may be the only way to transfer a
      // catalog.
      catalog:
        catalog.source.from === 'file' ? await context.readFile(buildCatalogPath(options.file)) : undefined,
    },
    {
      web: web.web,
      registry: createClusterRegistry(web, cluster),
      parts,
      onFetch: (what) => stderr.write(toPrintable(`fetching ${what}\n`)),
    },
    signal,
  )
  stderr.write(toPrintable(`writing ${file}\n`))
  const size = await bundles.write(
    file,
    stopWhenAborted(
      streamBundle(manifest, key.privateKey, ({ sha256 }) => parts.content(sha256)),
      signal,
    ),
  )
  await parts.clear()
  return { file, size, manifest, publicKey: formatPublicKey(key.publicKey) }
}

/**
 * Returns the source of files and images. A cluster that installs from a bundle uses upstream as the source
 * of a new bundle.
 */
function toNetworkSource({ spec }: Cluster): NetworkSource {
  const { artifacts } = spec
  return artifacts !== 'upstream' && 'bundle' in artifacts ? 'upstream' : artifacts
}

/**
 * Selects the entries of a lock that the hosts and charts of the cluster need. Programs of a held upgrade and
 * of workers with another version are left out, because a bundle has one version of each file.
 */
function selectLock(
  cluster: Cluster,
  catalog: Catalog,
  { workers, heldUpgrade: _heldUpgrade, ...lock }: Lock,
  charts: Lock['charts'] = {},
): Lock {
  const { spec } = cluster
  const release = findKubernetesRelease(catalog, spec.kubernetes)
  const images = selectImages(cluster, release.images)
  const [problem] = checkLock(lock, { release, targets: [], images })
  if (problem !== undefined) {
    throw new HyperkubeError(problem.code, problem.message, { hint: 'update cluster.lock: hyperkube lock' })
  }
  if (workers !== undefined) {
    throw new HyperkubeError('BUNDLE_TWO_VERSIONS', 'a bundle has the files of one Kubernetes version', {
      hint: 'finish the upgrade of workers first: hyperkube upgrade --to ' + spec.kubernetes,
    })
  }
  const unpinned = findUnpinnedChart(lock, charts)
  if (unpinned !== undefined) {
    throw new HyperkubeError('CHART_NOT_LOCKED', unpinned, { hint: 'update cluster.lock: hyperkube lock' })
  }
  const hostSystems = new Set(spec.hosts.map(({ os }) => os))
  return {
    ...lock,
    artifacts: lock.artifacts.filter(({ os }) => hostSystems.has(os)),
    images: { ...selectImages(cluster, lock.images) },
    ...(lock.charts === undefined ? {} : { charts }),
  }
}
